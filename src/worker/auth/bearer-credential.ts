/** The credential of a request, for keys and for the admin token. Pure. */

/** The token of `Authorization: Bearer <token>`; undefined without such a credential. RFC 9110: the scheme has any case. */
export function bearerCredential(authorization: string | undefined): string | undefined {
  return authorization?.match(/^Bearer +(\S.*)$/i)?.[1];
}
