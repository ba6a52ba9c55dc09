import { crc32 } from "node:zlib";
import fc from "fast-check";
import { describe, it } from "vitest";
import { isWellFormedKey, maskKey, mintKey } from "../../../src/worker/auth/key-format.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function secureBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count));
}

/** Keys that fast-check can shrink and replay: their randomness comes from it. */
const mintedKey = fc
  .infiniteStream(fc.integer({ min: 0, max: 255 }))
  .map((bytes) => mintKey((count) => Uint8Array.from({ length: count }, () => bytes.next().value)));

function base62(value: number, length: number): string {
  let digits = "";
  for (let rest = value; digits.length < length; rest = Math.floor(rest / 62)) {
    digits = BASE62.charAt(rest % 62) + digits;
  }
  return digits;
}

function withChecksum(text: string): string {
  return text + base62(crc32(text), 6);
}

describe("minting a key", () => {
  it("returns the prefix, 32 base62 characters and 6 of checksum", ({ expect }) => {
    fc.assert(
      fc.property(mintedKey, (key) => {
        expect(key).toMatch(/^sok_[0-9A-Za-z]{38}$/);
        expect(isWellFormedKey(key)).toBe(true);
      }),
    );
  });

  it("ends with zlib's CRC-32 of what precedes it, in base62", ({ expect }) => {
    fc.assert(
      fc.property(mintedKey, (key) => {
        expect(key.slice(-6)).toBe(base62(crc32(key.slice(0, -6)), 6));
      }),
    );
  });

  it("gives every character of the alphabet the same probability: four bytes each, and other bytes are drawn again", ({
    expect,
  }) => {
    const drawn = new Map<string, number>();
    for (let byte = 0; byte < 256; byte++) {
      let calls = 0;
      const key = mintKey((count) => new Uint8Array(count).fill(calls++ === 0 ? byte : 0));
      if (calls === 1) drawn.set(key.charAt(4), (drawn.get(key.charAt(4)) ?? 0) + 1);
    }
    expect([...drawn.keys()].sort().join("")).toBe([...BASE62].sort().join(""));
    expect([...drawn.values()]).toEqual(Array.from({ length: 62 }, () => 4));
  });

  it("asks for more bytes when some were unusable, and never repeats a key", ({ expect }) => {
    const script = [new Uint8Array(32).fill(255), new Uint8Array(32).fill(248), new Uint8Array(32).fill(61)];
    expect(mintKey(() => script.shift() ?? new Uint8Array(0)).slice(4, 36)).toBe("z".repeat(32));

    const keys = new Set(Array.from({ length: 1000 }, () => mintKey(secureBytes)));
    expect(keys.size).toBe(1000);
  });
});

describe("recognising a key", () => {
  it("refuses a key with any single character changed to any other of the alphabet", ({ expect }) => {
    const key = mintKey(secureBytes);
    for (let at = 0; at < key.length; at++) {
      for (const character of `${BASE62}_`) {
        if (character === key.charAt(at)) continue;
        const changed = key.slice(0, at) + character + key.slice(at + 1);
        expect(isWellFormedKey(changed), `character ${at} changed to ${character}`).toBe(false);
      }
    }
  });

  it("refuses any changed character, for any key and position", ({ expect }) => {
    fc.assert(
      fc.property(mintedKey, fc.nat(41), fc.string({ minLength: 1, maxLength: 1 }), (key, at, character) => {
        fc.pre(character !== key.charAt(at));
        expect(isWellFormedKey(key.slice(0, at) + character + key.slice(at + 1))).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });

  it("refuses two swapped adjacent characters", ({ expect }) => {
    fc.assert(
      fc.property(mintedKey, fc.nat(40), (key, at) => {
        const [left, right] = [key.charAt(at), key.charAt(at + 1)];
        fc.pre(left !== right);
        expect(isWellFormedKey(key.slice(0, at) + right + left + key.slice(at + 2))).toBe(false);
      }),
    );
  });

  it("refuses a key with characters removed, added or around it", ({ expect }) => {
    const key = mintKey(secureBytes);
    const others = ["", key.slice(0, -1), key.slice(1), `${key}0`, ` ${key}`, `${key} `, `${key}\n`];
    for (const other of [...others, key.toUpperCase(), key.slice(4), `${key}${key}`]) {
      expect(isWellFormedKey(other), JSON.stringify(other)).toBe(false);
    }
  });

  it.for([
    { shape: "a character less", text: `sok_${"a".repeat(31)}` },
    { shape: "a character more", text: `sok_${"a".repeat(33)}` },
    { shape: "a character outside base62", text: `sok_${"a".repeat(31)}-` },
    { shape: "another prefix", text: `sik_${"a".repeat(32)}` },
    { shape: "text before the prefix", text: `x\nsok_${"a".repeat(32)}` },
  ])("refuses $shape, although the checksum matches", ({ text }, { expect }) => {
    expect(isWellFormedKey(withChecksum(`sok_${"a".repeat(32)}`))).toBe(true);
    expect(isWellFormedKey(withChecksum(text))).toBe(false);
  });

  it("refuses arbitrary text, also long text", ({ expect }) => {
    fc.assert(fc.property(fc.string({ maxLength: 60 }), (text) => !isWellFormedKey(text)));
    expect(isWellFormedKey(`sok_${"a".repeat(1_000_000)}`)).toBe(false);
  });
});

describe("masking a key", () => {
  it("shows six of the 32 random characters and none of the checksum", ({ expect }) => {
    fc.assert(
      fc.property(mintedKey, (key) => {
        expect(maskKey(key)).toBe(`sok_${key.slice(4, 6)}…${key.slice(-4)}`);
      }),
    );
  });
});
