/** Secrets in text that operators write. */
import fc from "fast-check";
import { describe, it } from "vitest";
import { looksLikeSecret } from "../../../src/worker/admin/looks-like-secret.ts";
import { maskKey, mintKey } from "../../../src/worker/auth/key-format.ts";

const key = fc
  .uint8Array({ minLength: 400, maxLength: 400 })
  .map((bytes) => bytes.map((byte) => byte % 248))
  .map((bytes) => mintKey((count) => bytes.slice(0, count)));

describe("text of an operator", () => {
  it("that has a key anywhere looks like a secret", ({ expect }) => {
    fc.assert(
      fc.property(fc.string(), key, fc.string(), (before, secret, after) => {
        expect(looksLikeSecret(before + secret + after)).toBe(true);
      }),
    );
  });

  it("that has a masked key or an id does not", ({ expect }) => {
    fc.assert(
      fc.property(key, fc.uuid(), (secret, uuid) => {
        expect(looksLikeSecret(`${maskKey(secret)} was seen in request ${uuid}`)).toBe(false);
      }),
    );
  });

  for (const text of [
    "sent Authorization: Bearer abcdefghijkl",
    "token 9f86d081884c7d659a2feaa0c55ad015",
    "dGhpc19pc19hX3Rva2VuX3dpdGhfNDNfY2hhcmFjdGVycw",
    "SOK_egBoqJXzCCpCTC8p",
  ]) {
    it(`such as ${JSON.stringify(text)} does`, ({ expect }) => {
      expect(looksLikeSecret(text)).toBe(true);
    });
  }

  for (const text of [
    "bans ban_key_019a0b1c2d3e4f5a6b7c8d9e0f1a2b3c_1795273551000 and key_019a0b1c2d3e4f5a6b7c8d9e0f1a2b3c",
    "The bearer of this key is Ann",
    "hammers on, see https://tickets.example/T-1234",
  ]) {
    it(`such as ${JSON.stringify(text)} does not`, ({ expect }) => {
      expect(looksLikeSecret(text)).toBe(false);
    });
  }
});
