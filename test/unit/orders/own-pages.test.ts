/** The few places for pages of readers that go on by themselves, of which a client that stalls keeps none. */
import { describe, it } from "vitest";
import type { Chunk } from "../../../src/worker/orders/order-list-snapshot.ts";
import {
  MAX_OWN_PAGES,
  MAX_OWN_PAGES_PER_KEY,
  type OwnPage,
  OwnPages,
} from "../../../src/worker/orders/own-pages.ts";

const NOW = 1_800_000_000_000;

function chunk(lastId: number): Chunk {
  return { lastId: BigInt(lastId), orderCount: 1, bytes: new Uint8Array(1) };
}

function take(pages: OwnPages, nowMs: number, keyId = "key_other"): OwnPage {
  const page = pages.take(keyId, nowMs);
  if (!page) throw new Error("no place is free");
  return page;
}

/** All places, with pages that are read, for two keys. */
function takeAll(pages: OwnPages, nowMs = NOW): OwnPage[] {
  return Array.from({ length: MAX_OWN_PAGES }, (_, i) => take(pages, nowMs, `key_${i % 2}`));
}

describe("the pages of readers that go on by themselves", () => {
  it("have a bounded number of places, which pages leave with their last chunk", ({ expect }) => {
    const pages = new OwnPages();
    const [first, second, third] = takeAll(pages);
    expect(pages.take("key_other", NOW)).toBeUndefined();
    first?.fill({ chunks: [chunk(1), chunk(2)], nextId: 3n }, NOW);
    first?.removeFirst();
    expect(first?.first(NOW)).toEqual(chunk(2));
    expect(pages.take("key_other", NOW)).toBeUndefined();
    first?.removeFirst();
    expect([first?.first(NOW), first?.isDropped, first?.nextId]).toEqual([undefined, false, 3n]);
    take(pages, NOW);
    second?.fill({ chunks: [], nextId: null }, NOW);
    take(pages, NOW);
    third?.drop();
    take(pages, NOW);
    expect(pages.take("key_other", NOW)).toBeUndefined();
  });

  it("are dropped for another reader if they have not been read from for 5 seconds", ({ expect }) => {
    const pages = new OwnPages();
    const all = takeAll(pages);
    for (const page of all) page.fill({ chunks: [chunk(1)], nextId: 2n }, NOW);
    for (const page of all.slice(1)) page.first(NOW + 4_999);
    expect(pages.take("key_other", NOW + 4_999)).toBeUndefined();
    take(pages, NOW + 5_000);
    expect(all.map(({ isDropped }) => isDropped)).toEqual(all.map((_, i) => i === 0));
    expect(all[0]?.first(NOW + 5_000)).toBeUndefined();
    expect(pages.take("key_other", NOW + 9_998)).toBeUndefined();
    take(pages, NOW + 9_999);
  });

  it("stay for as long as their query can take, and then drop what it returns", ({ expect }) => {
    const pages = new OwnPages();
    const [first] = takeAll(pages);
    expect(pages.take("key_other", NOW + 9_999)).toBeUndefined();
    take(pages, NOW + 10_000);
    first?.fill({ chunks: [chunk(1)], nextId: null }, NOW + 10_000);
    expect([first?.isDropped, first?.first(NOW + 10_000)]).toEqual([true, undefined]);
  });

  it("of one key have half of the places, of which it takes only its own idle ones", ({ expect }) => {
    const pages = new OwnPages();
    const own = Array.from({ length: MAX_OWN_PAGES_PER_KEY }, () => take(pages, NOW, "key_1"));
    expect(pages.take("key_1", NOW)).toBeUndefined();
    const other = take(pages, NOW);
    for (const page of [...own, other]) page.fill({ chunks: [chunk(1)], nextId: 2n }, NOW);
    for (const page of own.slice(1)) page.first(NOW + 4_000);
    take(pages, NOW + 5_000, "key_1");
    expect([own[0]?.isDropped, other.isDropped]).toEqual([true, false]);
    expect(pages.take("key_1", NOW + 5_000)).toBeUndefined();
  });

  it("of which one was read in the future are dropped: the clock was set back", ({ expect }) => {
    const pages = new OwnPages();
    takeAll(pages, NOW + 60_000);
    expect(pages.take("key_other", NOW)).toBeDefined();
  });
});
