/** The credential of a request, for keys and for the admin token. Pure. */

/**
 * Between the scheme and the token. Clients send one. V8 keeps a whole header in memory as long as a part of it is in use, so as
 * long as the key is looked up.
 */
export const MAX_BLANKS = 100;

const CREDENTIAL = new RegExp(`^Bearer {1,${MAX_BLANKS}}(\\S.*)$`, "i");

/** The token of `Authorization: Bearer <token>`; undefined without such a credential. RFC 9110: the scheme has any case. */
export function bearerCredential(authorization: string | undefined): string | undefined {
  return authorization?.match(CREDENTIAL)?.[1];
}
