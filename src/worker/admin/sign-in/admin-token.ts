/** The form of the two admin tokens. Pure. */

/** Completes the sentence `ADMIN_TOKEN needs …`. */
export const ADMIN_TOKEN_RULE = "32 characters or more, and no blanks";

/** Long enough, and only of characters that `Authorization: Bearer` can carry, which excludes blanks. */
export function isUsableToken(token: string): boolean {
  return /^[\x21-\x7e]{32,}$/.test(token);
}

/** Whether a text that would be stored or shown has this token in it. */
export function hasAdminToken(text: string, token: string): boolean {
  return isUsableToken(token) && text.includes(token);
}
