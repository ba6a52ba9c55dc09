/** The token buckets of keys that exist but are not usable. */
import { describe, it } from "vitest";
import { BUCKET_SIZE, MAX_UNUSABLE_KEYS, UnusableKeys } from "../../../src/worker/auth/unusable-keys.ts";

const NOW = 1_790_000_000_000;

function takeAll(keys: UnusableKeys, hash: string, nowMs: number): number {
  let taken = 0;
  while (taken < 10_000 && keys.takeQuery(hash, nowMs)) taken++;
  return taken;
}

describe("a key that is not usable", () => {
  it("has 300 queries at once, then one a second", ({ expect }) => {
    const keys = new UnusableKeys();
    keys.add("hash", "key_1", NOW);
    expect(takeAll(keys, "hash", NOW)).toBe(300);
    expect(keys.takeQuery("hash", NOW + 999)).toBe(false);
    expect(keys.takeQuery("hash", NOW + 1_000)).toBe(true);
    expect(keys.takeQuery("hash", NOW + 1_000)).toBe(false);
    expect(takeAll(keys, "hash", NOW + 11_000)).toBe(10);
  });

  it("never has more than 300, after any pause", ({ expect }) => {
    const keys = new UnusableKeys();
    keys.add("hash", "key_1", NOW);
    expect(takeAll(keys, "hash", NOW + 86_400_000)).toBe(BUCKET_SIZE);
  });

  it("keeps its bucket when it is added again, and loses it when it is deleted", ({ expect }) => {
    const keys = new UnusableKeys();
    keys.add("hash", "key_1", NOW);
    takeAll(keys, "hash", NOW);
    keys.add("hash", "key_1", NOW);
    expect(keys.takeQuery("hash", NOW)).toBe(false);
    expect(keys.idOf("hash")).toBe("key_1");
    keys.delete("hash");
    expect(keys.has("hash")).toBe(false);
    expect(keys.idOf("hash")).toBeUndefined();
    expect(keys.takeQuery("hash", NOW)).toBe(true);
  });

  it("loses no query by a clock that is set back, and has one a second by that clock", ({ expect }) => {
    const keys = new UnusableKeys();
    keys.add("hash", "key_1", NOW);
    for (let i = 1; i < BUCKET_SIZE; i++) keys.takeQuery("hash", NOW);
    expect(keys.takeQuery("hash", NOW - 60_000)).toBe(true);
    expect(keys.takeQuery("hash", NOW - 60_000)).toBe(false);
    expect(keys.takeQuery("hash", NOW - 59_001)).toBe(false);
    expect(keys.takeQuery("hash", NOW - 59_000)).toBe(true);
    expect(keys.takeQuery("hash", NOW - 59_000)).toBe(false);
  });

  it("shares its bucket with no other key, and an unknown key has none", ({ expect }) => {
    const keys = new UnusableKeys();
    keys.add("one", "key_1", NOW);
    keys.add("two", "key_1", NOW);
    takeAll(keys, "one", NOW);
    expect(keys.takeQuery("two", NOW)).toBe(true);
    expect(takeAll(keys, "unknown", NOW)).toBe(10_000);
  });

  it("is dropped when 1,000 others were added after it", ({ expect }) => {
    const keys = new UnusableKeys();
    expect(MAX_UNUSABLE_KEYS).toBe(1_000);
    for (let i = 0; i < MAX_UNUSABLE_KEYS; i++) keys.add(`hash ${i}`, "key_1", NOW);
    expect(keys.has("hash 0")).toBe(true);
    keys.add("one more", "key_1", NOW);
    expect(keys.has("hash 0")).toBe(false);
    expect(keys.has("hash 1")).toBe(true);
    expect(keys.has("one more")).toBe(true);
  });
});
