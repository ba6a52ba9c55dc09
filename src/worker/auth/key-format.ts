/**
 * The shape of an API key: `sok_`, 32 base62 characters from a CSPRNG (190 bits), 6 base62 characters of CRC-32 over
 * what precedes (ADR-2). The checksum lets a mistyped key be refused before any storage is touched; it is no secret.
 *
 * Pure: random bytes are a parameter.
 */

const PREFIX = "sok_";
const BODY_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const KEY_IN_TEXT = new RegExp(`${PREFIX}[0-9A-Za-z]{${BODY_LENGTH + CHECKSUM_LENGTH}}`);
const SHAPE = new RegExp(`^${KEY_IN_TEXT.source}$`);

/** The largest multiple of 62 that fits a byte: bytes from here on are drawn again, or low digits would be likelier. */
const UNBIASED_BYTES = 248;

/** A new key. `randomBytes(n)` must return n bytes from a CSPRNG; it is called until 32 of them were usable. */
export function mintKey(randomBytes: (count: number) => Uint8Array): string {
  let body = "";
  while (body.length < BODY_LENGTH) {
    for (const byte of randomBytes(BODY_LENGTH - body.length)) {
      if (byte < UNBIASED_BYTES) body += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return PREFIX + body + checksum(PREFIX + body);
}

/** Whether the text has a key's shape and its checksum matches. Any single changed character makes it false. */
export function isWellFormedKey(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  const end = text.length - CHECKSUM_LENGTH;
  return checksum(text.slice(0, end)) === text.slice(end);
}

/** Whether the text has a key in it, or enough of one that the key should be rotated. */
export function hasKey(text: string): boolean {
  return /sok_[0-9A-Za-z]{8,}/.test(text);
}

/** What has a key's shape in a text such as `Bearer sok_…`, with or without the right checksum. */
export function keyIn(text: string): string | undefined {
  return new RegExp(`(?<![0-9A-Za-z])${KEY_IN_TEXT.source}(?![0-9A-Za-z])`).exec(text)?.[0];
}

/** What an operator sees of a key: 6 of 38 characters. People read out the last ones, so they are among them (ADR-3). */
export function maskKey(key: string): string {
  return `${key.slice(0, PREFIX.length + 2)}…${key.slice(-4)}`;
}

function checksum(text: string): string {
  let value = crc32(text);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = ALPHABET.charAt(value % ALPHABET.length) + digits;
    value = Math.floor(value / ALPHABET.length);
  }
  return digits;
}

/** CRC-32 as in zlib (reflected, polynomial 0xEDB88320) of ASCII text, bit by bit: 38 characters need no table. */
function crc32(text: string): number {
  let crc = ~0;
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}
