/**
 * The form of an API key: `sok_`, the location of the limiter (1 character), the key's id (12), a secret (26)
 * and a MAC (6), in base62 (ADR-2).
 *
 * Pure: random bytes are a parameter.
 */
import { LOCATIONS } from "../db/values.ts";

/** Where a key's limiter is created, as one of Cloudflare's location hints. */
export type Location = (typeof LOCATIONS)[number];

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ID_LENGTH = 12;
const SECRET_LENGTH = 26;
export const MAC_LENGTH = 6;

const KEY_IN_TEXT = new RegExp(`sok_[0-9A-Za-z]{${1 + ID_LENGTH + SECRET_LENGTH + MAC_LENGTH}}`);
const KEY = new RegExp(
  `^(?<signed>sok_(?<locationDigit>[0-9A-Za-z])(?<id>[0-9A-Za-z]{${ID_LENGTH}})[0-9A-Za-z]{${SECRET_LENGTH}})(?<mac>[0-9A-Za-z]{${MAC_LENGTH}})$`,
);

/** The largest multiple of 62 in a byte. Higher bytes are drawn again, or low digits would be likelier. */
const UNBIASED_BYTES = 248;

/** `randomBytes(n)` must return n bytes from a CSPRNG. */
export type RandomBytes = (count: number) => Uint8Array;

export type ParsedKey = {
  /** `key_…`. The id names the key's limiter, and the caller in logs and in `cancelled_orders`. */
  readonly id: string;
  /** Null: the limiter is created near the first request. */
  readonly location: Location | null;
  /** The text that the MAC signs. */
  readonly signed: string;
  readonly mac: string;
};

/** Returns undefined if the text does not have the form of a key. */
export function parseKey(text: string): ParsedKey | undefined {
  const { signed = "", locationDigit = "", id = "", mac = "" } = KEY.exec(text)?.groups ?? {};
  if (signed === "") return undefined;
  return { id: `key_${id}`, location: LOCATIONS[ALPHABET.indexOf(locationDigit) - 1] ?? null, signed, mac };
}

export function isKeyId(text: string): boolean {
  return new RegExp(`^key_[0-9A-Za-z]{${ID_LENGTH}}$`).test(text);
}

/** 64 bits of the hash, in hex, name a secret. The whole hash is not shown (ADR-3). */
export const SECRET_ID_CHARS = 16;

export function isSecretId(text: string): boolean {
  return new RegExp(`^[0-9a-f]{${SECRET_ID_CHARS}}$`).test(text);
}

/** Makes an id without a time in it. A client can make the id, so a repeated request makes no second key. */
export function mintKeyId(randomBytes: RandomBytes): string {
  return `key_${randomDigits(ID_LENGTH, randomBytes)}`;
}

/** Makes an id of a customer. */
export function mintCustomerId(randomBytes: RandomBytes): string {
  return `cus_${randomDigits(ID_LENGTH, randomBytes)}`;
}

export function isCustomerId(text: string): boolean {
  return new RegExp(`^cus_[0-9A-Za-z]{${ID_LENGTH}}$`).test(text);
}

/** Makes a key without its MAC. */
export function mintUnsigned(id: string, location: Location | null, randomBytes: RandomBytes): string {
  const locationDigit = location === null ? 0 : LOCATIONS.indexOf(location) + 1;
  return `sok_${ALPHABET.charAt(locationDigit)}${id.slice("key_".length)}${randomDigits(SECRET_LENGTH, randomBytes)}`;
}

/** Whether the text contains a key, the code of an owner's link, or the beginning of one. */
export function hasKey(text: string): boolean {
  return /so[kl]_[0-9A-Za-z]{8}/.test(text);
}

/** Finds a key in a text such as `Bearer sok_…`. */
export function keyIn(text: string): string | undefined {
  return KEY_IN_TEXT.exec(text)?.[0];
}

/** Returns the part of a key that operators see. People read out the last characters (ADR-3). */
export function maskKey(key: string): string {
  return `${key.slice(0, "sok_".length + 2)}…${key.slice(-4)}`;
}

/** Returns the last digits of a whole number. */
export function base62(value: number, length: number): string {
  let digits = "";
  for (let rest = value; digits.length < length; rest = Math.floor(rest / ALPHABET.length)) {
    digits = ALPHABET.charAt(rest % ALPHABET.length) + digits;
  }
  return digits;
}

export function randomDigits(length: number, randomBytes: RandomBytes): string {
  let digits = "";
  while (digits.length < length) {
    for (const byte of randomBytes(length - digits.length)) {
      if (byte < UNBIASED_BYTES) digits += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return digits;
}

/** Whether requests of a key with this status are counted, and not a 401. */
export function isUsable(status: string): boolean {
  return status === "active" || status === "banned";
}
