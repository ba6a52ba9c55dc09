/** Recognises secrets in text that operators write: names, notes and reasons are stored and shown in clear. Pure. */

/** A key, or enough of one that it should be rotated. A masked secret has six characters in a row at most. */
const KEY = /sok_[0-9A-Za-z]{8}/i;

const BEARER = /\bbearer\s+(\S{8,})/i;

/** A run of characters as long as the shortest admin token. */
const MIN_TOKEN_CHARS = 32;
const LONG_WORD = new RegExp(`[\\w-]{${MIN_TOKEN_CHARS},}`, "g");

/** Long words that are no secret: our ids, and UUIDs such as a request id. */
const ID = /^(?:(?:key|ban|imp)_[\w-]+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/** Where a letter meets a digit, or a small letter a capital, with nothing between them. */
const TURN = /(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])|(?<=[a-z])(?=[A-Z])/g;

/**
 * Turns within 32 characters, of which people's words have few. Of 10,000 random tokens, those with fewer: 60 of base64url with 32
 * characters, 5 with 43; 30 of 32 hexadecimal digits; 320 of 32 small letters and digits; 2,000 of 32 in base32. Words that have
 * as many and are not random: 7 of 18,000 long file names, and 1 of 36,000 long names of npm's and PyPI's packages.
 */
const MIN_TURNS = 7;

/** The part of the text that looks like a key, a bearer credential or a random token; undefined if none does. */
export function secretIn(text: string): string | undefined {
  return keyPartIn(text) ?? BEARER.exec(text)?.[1] ?? text.match(LONG_WORD)?.find(looksRandom);
}

/** As `secretIn`, of keys only: a hash is a usual name of a file. */
export function keyPartIn(text: string): string | undefined {
  return KEY.exec(text)?.[0];
}

function looksRandom(word: string): boolean {
  const turns = [...word.matchAll(TURN)].map(({ index }) => index);
  const isDense = (first: number, i: number) =>
    (turns[i + MIN_TURNS - 1] ?? Infinity) - first < MIN_TOKEN_CHARS;
  return !ID.test(word) && turns.some(isDense);
}
