/** What a key is made of: digits, and a MAC, beside one that node:crypto and whole numbers of any size make. */
import { createHmac } from "node:crypto";
import { describe, it } from "vitest";
import { mintKeyId } from "../../../src/worker/key/key.ts";
import { importMacKey, macOf } from "../../../src/worker/key/mac.ts";

const MAC_KEY = "5a".repeat(32);
const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function expectedMac(text: string): string {
  const hex = createHmac("sha256", Buffer.from(MAC_KEY, "hex")).update(text).digest("hex").slice(0, 12);
  let rest = BigInt(`0x${hex}`);
  let digits = "";
  for (; digits.length < 6; rest /= 62n) digits = DIGITS.charAt(Number(rest % 62n)) + digits;
  return digits;
}

describe("the MAC of a key", () => {
  it.for(["sok_0a", "sok_0b", "sok_1c"])(
    "is of 48 bits of the HMAC-SHA-256: %s",
    async (text, { expect }) => {
      expect(await macOf(await importMacKey(MAC_KEY), text)).toBe(expectedMac(text));
    },
  );
});

it("the digits of a key are equally likely", ({ expect }) => {
  let byte = 0; // each value in turn
  const randomBytes = (count: number) => Uint8Array.from({ length: count }, () => byte++);
  const digits = Array.from({ length: DIGITS.length }, () =>
    mintKeyId(randomBytes).slice("key_".length),
  ).join("");
  for (const digit of DIGITS) expect(digits.split(digit)).toHaveLength(12 + 1);
});
