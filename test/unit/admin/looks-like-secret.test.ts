/** Secrets in text that operators write. */
import fc from "fast-check";
import * as v from "valibot";
import { describe, it } from "vitest";
import { keyPartIn, longKeyPartIn, secretIn } from "../../../src/worker/admin/looks-like-secret.ts";
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
    const hex = fc.uuid().map((uuid) => uuid.replaceAll("-", ""));
    const keyId = hex.map((digits) => `key_0${digits.slice(1)}`);
    const id = fc.oneof(
      keyId,
      keyId.map((each) => `ban_${each}_1795273551000`),
      fc.uuid(),
      fc.uuid().map((uuid) => `ban_${uuid}`),
      fc.uuid().map((uuid) => `imp_${uuid}`),
      hex.map((digits) => `imp_${digits}`),
    );
    const text = fc.constantFrom("of request ", "https://acme.example/console/keys/", "see ", "(");
    fc.assert(
      fc.property(
        key,
        text,
        id,
        fc.constantFrom("", "/secrets", ", again"),
        (secret, before, each, after) => {
          expect(looksLikeSecret(`${maskKey(secret)} ${before}${each}${after}`)).toBe(false);
        },
      ),
    );
  });

  for (const text of [
    "sent Authorization: Bearer abcdefghijkl",
    "token 9f86d081884c7d659a2feaa0c55ad015",
    "dGhpc19pc19hX3Rva2VuX3dpdGhfNDNfY2hhcmFjdGVycw",
    "SOK_egBoqJXzCCpCTC8p",
    "leaked-token-9f86d081884c7d659a2feaa0c55ad015-of-acme",
    "key_9f86d081884c7d659a2feaa0c55ad015",
    "ban_key_9f86d081884c7d659a2feaa0c55ad015_1795273551000",
    "key_019a0b1c2d3e4f5a6b7c8d9e0f1a2b3c019a0b1c2d3e4f5a6b7c8d9e0f1a2b3c",
    "the token is q7Hn2Ks/9dLw+Xc4Vb8T/mZ3Rf6Y1pGj5AeU0oI+tQk=",
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
    "see https://github.com/acme/orders/commit/c5d3f5f9c8 and https://acme.example/v1/badges/5c6d61926d8f87b38b39/orders",
    "exports/2026/11/22/eu1/warehouse/OrdersOfEurope/part3/orders2026.ndjson",
    "from 20261122T104207Z/20261123T104207Z, Q3/Q4, and firstname.lastname+orders2026+eu1@example.com",
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

  const digits = "0123456789";
  const small = "abcdefghijklmnopqrstuvwxyz";
  const capitals = small.toUpperCase();
  const alphabets = {
    base64: `${capitals}${small}${digits}+/`,
    base64url: `${capitals}${small}${digits}-_`,
    hex: `${digits}abcdef`,
    "small letters and digits": small + digits,
    base32: `${capitals}234567`,
  };

  // How many of 1,000 random tokens are missed on average. More than `most` has a probability below one in a million.
  for (const { average, most, before = "", alphabet, chars, after = "" } of [
    { average: 6, most: 23, alphabet: "base64url", chars: 32 },
    { average: 0.5, most: 8, alphabet: "base64url", chars: 43 },
    { average: 6, most: 23, before: "key_live_", alphabet: "base64url", chars: 32 },
    { average: 6, most: 23, before: "ban_", alphabet: "base64url", chars: 32 },
    { average: 8, most: 27, alphabet: "base64", chars: 32 },
    { average: 0.8, most: 9, alphabet: "base64", chars: 43, after: "=" },
    { average: 0.1, most: 5, before: "sk_live_", alphabet: "base64", chars: 86, after: "==" },
    { average: 3, most: 16, alphabet: "hex", chars: 32 },
    { average: 0.01, most: 3, before: "key_", alphabet: "hex", chars: 64 },
    { average: 0.01, most: 3, before: "imp_", alphabet: "hex", chars: 64 },
    { average: 32, most: 64, alphabet: "small letters and digits", chars: 32 },
    { average: 200, most: 265, alphabet: "base32", chars: 32 },
  ] as const) {
    it(`misses ${average} of 1,000 tokens ${before}(${chars} of ${alphabet})${after}`, ({ expect }) => {
      const characters = alphabets[alphabet];
      const token = () =>
        [...crypto.getRandomValues(new Uint16Array(chars))]
          .map((n) => characters[n % characters.length])
          .join("");
      const tokens = Array.from({ length: 1_000 }, () => before + token() + after);
      expect(tokens.filter((text) => !looksLikeSecret(text)).length).toBeLessThanOrEqual(most);
    });
  }

  it("is searched for with few parts of a key, which has no prefix", ({ expect }) => {
    const secrets = fc.sample(key, { numRuns: 500, seed: 1 });
    const missed = (chars: number) => secrets.filter((secret) => !longKeyPartIn(secret.slice(-chars))).length;
    // On average 18, 12 and 0.
    expect(missed(13)).toBeLessThan(40);
    expect(missed(20)).toBeLessThan(30);
    expect(missed(38)).toBeLessThan(4);
    expect(missed(12)).toBe(500);
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
