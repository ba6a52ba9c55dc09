/** The form of an admin token. Pure. */

/** A random token of this length cannot be guessed, whatever alphabet its generator uses. */
export const MIN_ADMIN_TOKEN_CHARS = 32;

/** Long enough, and only of characters that `Authorization: Bearer` can carry, which excludes blanks. */
export function isUsableToken(token: string): boolean {
  return token.length >= MIN_ADMIN_TOKEN_CHARS && /^[\x21-\x7e]+$/.test(token);
}
