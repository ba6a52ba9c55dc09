/** The form of an admin token. Pure. */

/** A random token of this length cannot be guessed, whatever alphabet its generator uses. */
const MIN_ADMIN_TOKEN_CHARS = 32;

/** Of 32 random hexadecimal digits, 10 or more differ in all but one of 9,000 cases. Words that are repeated have fewer. */
const MIN_DIFFERENT_CHARS = 10;

/** Completes the sentence `ADMIN_TOKEN needs …`. */
export const ADMIN_TOKEN_RULE = `${MIN_ADMIN_TOKEN_CHARS} characters or more, ${MIN_DIFFERENT_CHARS} of them different, and no blanks`;

/** Long and varied enough, and only of characters that `Authorization: Bearer` can carry, which excludes blanks. */
export function isUsableToken(token: string): boolean {
  const isVaried = new Set(token).size >= MIN_DIFFERENT_CHARS;
  return token.length >= MIN_ADMIN_TOKEN_CHARS && isVaried && /^[\x21-\x7e]+$/.test(token);
}
