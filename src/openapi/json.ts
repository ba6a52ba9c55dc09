/** The type of a JSON value. JSON.stringify leaves out members that are undefined. */

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

export type JsonObject = { readonly [name: string]: Json | undefined };
