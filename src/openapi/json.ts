/** A JSON value; members that are undefined are left out when it is written. Pure. */

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

export type JsonObject = { readonly [name: string]: Json | undefined };
