import fc from "fast-check";
import { describe, it } from "vitest";
import { KEY_CACHE_SIZE, KEY_CACHE_TTL_MS, KeyCache } from "../../../src/worker/auth/key-cache.ts";
import { isUsable, type KeyRecord } from "../../../src/worker/auth/key-record.ts";

const T0 = Date.parse("2030-01-01T00:00:00Z");

function record(changes: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id: "key_1",
    version: 1,
    status: "active",
    limits: { perMinute: 60, perDay: 1000 },
    expiresAt: null,
    operatorBan: null,
    liftedBanId: null,
    forgivenBanId: null,
    location: null,
    isUsed: true,
    plan: "free",
    ...changes,
  };
}

describe("a cached key record", () => {
  it("expires 60 seconds after it was loaded, to the millisecond, also if it is used", ({ expect }) => {
    const cache = new KeyCache();
    const key = record();
    cache.set("hash", key, T0);
    for (const ageMs of [0, 30_000, KEY_CACHE_TTL_MS - 1]) expect(cache.get("hash", T0 + ageMs)).toBe(key);
    expect(cache.get("hash", T0 + KEY_CACHE_TTL_MS)).toBeUndefined();
    expect(KEY_CACHE_TTL_MS).toBe(60_000);
  });

  it("is not returned if the clock is before the time of loading", ({ expect }) => {
    const cache = new KeyCache();
    cache.set("hash", record(), T0);
    expect(cache.get("hash", T0 - 1)).toBeUndefined();
    expect(cache.get("hash", T0)).toBeDefined();
  });

  it("is returned within the time to live only, for any times of loading and reading", ({ expect }) => {
    const moment = fc.integer({ min: -200_000, max: 200_000 });
    fc.assert(
      fc.property(moment, moment, (loadedAt, askedAt) => {
        const cache = new KeyCache();
        cache.set("hash", record(), T0 + loadedAt);
        const age = askedAt - loadedAt;
        expect(cache.get("hash", T0 + askedAt) !== undefined).toBe(age >= 0 && age < KEY_CACHE_TTL_MS);
      }),
    );
  });

  it("is replaced by a newer record, under its own hash only", ({ expect }) => {
    const cache = new KeyCache();
    cache.set("hash", record({ version: 1 }), T0);
    cache.set("hash", record({ version: 2 }), T0 + 1);
    expect(cache.get("hash", T0 + 1)?.version).toBe(2);
    expect(cache.get("another", T0 + 1)).toBeUndefined();
  });

  it("is still present for has() after it has expired, until it is deleted", ({ expect }) => {
    const cache = new KeyCache();
    expect(cache.has("hash")).toBe(false);
    cache.set("hash", record(), T0);
    expect(cache.get("hash", T0 + KEY_CACHE_TTL_MS)).toBeUndefined();
    expect(cache.has("hash")).toBe(true);
    cache.delete("hash");
    expect(cache.has("hash")).toBe(false);
    expect(cache.get("hash", T0)).toBeUndefined();
  });

  it("is dropped when the cache is full, the least recently loaded first", ({ expect }) => {
    expect(KEY_CACHE_SIZE).toBe(10_000);
    const cache = new KeyCache();
    for (let i = 0; i < KEY_CACHE_SIZE; i++) cache.set(`hash ${i}`, record(), T0);
    cache.set("hash 1", record(), T0);
    expect(cache.has("hash 0")).toBe(true);

    cache.set("one more", record(), T0);
    expect(cache.has("hash 0")).toBe(false);
    cache.set("and another", record(), T0);
    expect(cache.has("hash 2")).toBe(false);
    for (const kept of ["hash 1", "hash 3", "one more", "and another"]) expect(cache.has(kept)).toBe(true);
  });
});

describe("a key record", () => {
  it("is usable while it is active and before its expiry, to the millisecond", ({ expect }) => {
    const expiresAt = T0 / 1000;
    expect(isUsable(record(), T0)).toBe(true);
    expect(isUsable(record({ expiresAt }), T0 - 1)).toBe(true);
    expect(isUsable(record({ expiresAt }), T0)).toBe(false);
    expect(isUsable(record({ expiresAt: 0 }), T0)).toBe(false);
    expect(isUsable(record({ status: "disabled" }), T0)).toBe(false);
    expect(isUsable(record({ status: "revoked" }), T0)).toBe(false);
  });
});
