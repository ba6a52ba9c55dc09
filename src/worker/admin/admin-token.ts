/** What an operator's token must be. Pure. */

/** 32 characters of any alphabet a generator uses are far beyond guessing. */
export const MIN_ADMIN_TOKEN_CHARS = 32;

/** Long enough, and of characters that a header carries: with a blank in it no request could bring it. */
export function isUsableToken(token: string): boolean {
  return token.length >= MIN_ADMIN_TOKEN_CHARS && /^[\x21-\x7e]+$/.test(token);
}
