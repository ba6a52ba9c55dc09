/** The form of an admin token. Pure. */

/** A random token of this length cannot be guessed, whatever alphabet its generator uses. */
const MIN_ADMIN_TOKEN_CHARS = 32;

/** Of 32 random hexadecimal digits, 10 or more differ in all but one of 9,000 cases. Words that are repeated have fewer. */
const MIN_DIFFERENT_CHARS = 10;

/**
 * Differences between the codes of neighbours. 32 random hexadecimal digits have fewer in less than one of 100,000 cases; the alphabet
 * has 1, and a repeated word of up to 11 characters has at most 11.
 */
const MIN_DIFFERENT_STEPS = 12;

/** Completes the sentence `ADMIN_TOKEN needs …`. */
export const ADMIN_TOKEN_RULE = `${MIN_ADMIN_TOKEN_CHARS} characters or more, ${MIN_DIFFERENT_CHARS} of them different, no sequence or repetition, and no blanks`;

/** Long and varied enough, and only of characters that `Authorization: Bearer` can carry, which excludes blanks. */
export function isUsableToken(token: string): boolean {
  const isVaried =
    new Set(token).size >= MIN_DIFFERENT_CHARS && countDifferentSteps(token) >= MIN_DIFFERENT_STEPS;
  return token.length >= MIN_ADMIN_TOKEN_CHARS && isVaried && /^[\x21-\x7e]+$/.test(token);
}

/** Whether a text that would be stored or shown has the token in it. A token has no form by which it could be recognised. */
export function hasAdminToken(text: string, token = ""): boolean {
  return isUsableToken(token) && text.includes(token);
}

/** A longer part is more than what an operator may type to find a key: the end of its secret. */
const MAX_PART_CHARS = 12;

/** As `hasAdminToken`, of what becomes a part of an address: also more than 12 characters of the token, as if it was cut when it was copied. */
export function hasPartOfAdminToken(text: string, token = ""): boolean {
  const chars = MAX_PART_CHARS + 1;
  for (let from = 0; from + chars <= token.length; from++) {
    if (text.includes(token.slice(from, from + chars))) return true;
  }
  return false;
}

function countDifferentSteps(token: string): number {
  const steps = new Set<number>();
  for (let i = 1; i < token.length; i++) steps.add(token.charCodeAt(i) - token.charCodeAt(i - 1));
  return steps.size;
}
