/** RFC 9110: the case of the scheme does not matter. */
const CREDENTIAL = /^Bearer +(\S.*)$/i;

/** Returns the token of `Authorization: Bearer <token>`, or undefined. */
export function bearerCredential(authorization: string | undefined): string | undefined {
  return authorization?.match(CREDENTIAL)?.[1];
}
