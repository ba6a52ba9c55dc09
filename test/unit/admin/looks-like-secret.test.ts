/** Secrets in text that operators write. */
import fc from "fast-check";
import * as v from "valibot";
import { describe, it } from "vitest";
import { keyPartIn, secretIn } from "../../../src/worker/admin/looks-like-secret.ts";
import { importQuery } from "../../../src/worker/admin/routes/request-schemas.ts";
import { maskKey, mintKey } from "../../../src/worker/auth/key-format.ts";

const looksLikeSecret = (text: string) => secretIn(text) !== undefined;

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
    "leaked-token-9f86d081884c7d659a2feaa0c55ad015-of-acme",
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
  ]) {
    it(`such as ${JSON.stringify(text)} does`, ({ expect }) => {
      expect(looksLikeSecret(text)).toBe(true);
    });
  }

  for (const text of [
    "bans ban_key_019a0b1c2d3e4f5a6b7c8d9e0f1a2b3c_1795273551000 and key_019a0b1c2d3e4f5a6b7c8d9e0f1a2b3c",
    "The bearer of this key is Ann",
    "hammers on, see https://tickets.example/T-1234",
    "see https://acme.example/tickets/customer-requested-higher-limits-please",
    "abuse report https://abuse.example/report-2026-11-22-number-000123",
    "orders-export-from-warehouse-system-2026.ndjson",
    "ORDERS_EXPORT_2026-11-22T10-42-07Z_EU-WEST-1_PART-0003-OF-0128",
    "OrdersExportOfWarehouseSystemEuropeFinalVersion2026",
    "Donaudampfschifffahrtsgesellschaft",
    "firstname_lastname-department-team@example.com",
  ]) {
    it(`such as ${JSON.stringify(text)} does not`, ({ expect }) => {
      expect(looksLikeSecret(text)).toBe(false);
    });
  }

  it("misses few of the random tokens", ({ expect }) => {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const token = (alphabet: string, chars: number) =>
      [...crypto.getRandomValues(new Uint8Array(chars))]
        .map((byte) => alphabet[byte % alphabet.length])
        .join("");
    const missed = (alphabet: string, chars: number) =>
      Array.from({ length: 2_000 }, () => token(alphabet, chars)).filter((text) => !looksLikeSecret(text))
        .length;
    // On average 12, 1 and 6.
    expect(missed(alphabet, 32)).toBeLessThan(40);
    expect(missed(alphabet, 43)).toBeLessThan(15);
    expect(missed("0123456789abcdef", 32)).toBeLessThan(30);
  });
});

describe("the name of a file", () => {
  it("may be a hash, and has no part of a key", ({ expect }) => {
    const file = "9f86d081884c7d659a2feaa0c55ad015.json";
    expect(keyPartIn(file)).toBeUndefined();
    expect(v.safeParse(importQuery, { file }).success).toBe(true);
    expect(keyPartIn("orders of sok_egBoqJXzCCpCTC8p.json")).toBe("sok_egBoqJXz");
  });
});
