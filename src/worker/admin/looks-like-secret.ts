/** Recognises secrets in text that operators write: names, notes and reasons are stored and shown in clear. Pure. */

/** A key, or enough of one that it should be rotated. A masked secret has six characters in a row at most. */
const KEY = /sok_[0-9A-Za-z]{8}/i;

const BEARER = /\bbearer\s+(\S{8,})/i;

/** As the shortest admin token. */
const MIN_TOKEN_CHARS = 32;

const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}";

/** 32 hexadecimal digits, of which the first 12 are a time in milliseconds: they begin with 0 until the year 2527. */
const KEY_ID = "key_0[0-9a-f]{31}";

/** What is no secret: ids that the service or its programs make, and UUIDs such as a request id. Clients may choose other `imp_…` ids. */
const ID = new RegExp(
  `(?<![\\w-])(?:${KEY_ID}|ban_${KEY_ID}_\\d{13}|imp_[0-9a-f]{32}|(?:ban_|imp_)?${UUID})(?![\\w-])`,
  "gi",
);

/** Tokens in hexadecimal, base32 and base64url, with a prefix such as `key_live_`. */
const WORD = /[\w-]+={0,2}/g;

/** Tokens in standard base64. */
const BASE64_WORD = /[A-Za-z0-9+/]+={0,2}/g;

/** A word between slashes, as paths and URLs have. A random token is seldom cut by one. */
const PATH_PART = /(?<![A-Za-z0-9+])[A-Z]?[a-z]{4,}(?![A-Za-z0-9+])/g;

/**
 * More of a key than the 12 characters of its end that `POST /admin/keys/find` takes, without `sok_`. Shorter ones that follow `_`
 * or `-`, or precede `@`, are ids of other services and addresses.
 */
const LONG_PART = /(?<![\w-])[0-9A-Za-z]{13,}(?![\w@-])|[0-9A-Za-z]{32,}/g;

/** An import's id, which its client may choose. */
const IMPORT_ID = /(?<![\w-])imp_[\w-]{16,64}(?![\w-])/g;

/** Where a letter meets a digit, or a small letter a capital, with nothing between them. */
const TURN = /(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])|(?<=[a-z])(?=[A-Z])/g;

/**
 * Turns within 32 characters, of which people's words have few. Of 10,000 random tokens, these are missed: of base64url, 60 with 32
 * characters and 5 with 43; of base64, 80 with 32 and 8 with 44; of 32 hexadecimal digits, 30, but 650 with `key_` before them and
 * all with `imp_`; of 32 small letters and digits, 320; of 32 in base32, 2,000. What is refused and not random: 7 of 18,000 long file
 * names, 1 of 36,000 long names of npm's and PyPI's packages; and for the words between slashes, 33 of 468,000 paths and 9 of
 * 33,000 URLs.
 */
const MIN_TURNS = 7;

/** The part of the text that looks like a key, a bearer credential or a random token; undefined if none does. */
export function secretIn(text: string): string | undefined {
  return keyPartIn(text) ?? BEARER.exec(text)?.[1] ?? longWordsIn(text.replace(ID, " ")).find(looksRandom);
}

/** As `secretIn`, of keys only: a hash is a usual name of a file. */
export function keyPartIn(text: string): string | undefined {
  return KEY.exec(text)?.[0];
}

/**
 * As `secretIn`, of what is only searched for: the part of a key without `sok_`. Of 10,000 random parts with 13 to 20 characters,
 * 150 to 900 are missed, with 32 to 38 characters at most 15. Of 59,000 names of npm's and PyPI's packages with 13 characters or
 * more, 117 look like one, such as `OneToOneField`; up to 12 characters never do.
 */
export function longKeyPartIn(text: string): string | undefined {
  const words = text.replace(IMPORT_ID, " ").match(LONG_PART);
  return words?.find((word) => /[a-z]/.test(word) && /[A-Z]/.test(word) && looksRandom(word));
}

/** The words in which a token can be. */
function longWordsIn(text: string): readonly string[] {
  const words = [...(text.match(WORD) ?? []), ...(text.replace(PATH_PART, " ").match(BASE64_WORD) ?? [])];
  return words.filter(({ length }) => length >= MIN_TOKEN_CHARS);
}

/** A shorter word needs fewer turns, in proportion. */
function looksRandom(word: string): boolean {
  const turns = [...word.matchAll(TURN)].map(({ index }) => index);
  const minTurns = Math.ceil((MIN_TURNS * Math.min(word.length, MIN_TOKEN_CHARS)) / MIN_TOKEN_CHARS);
  return turns.some((first, i) => (turns[i + minTurns - 1] ?? Infinity) - first < MIN_TOKEN_CHARS);
}
