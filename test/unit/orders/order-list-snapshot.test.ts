/** Snapshots of the list: which ids each chunk stands for, and what a refresh shares. */
import { describe, it } from "vitest";
import { MAX_ID, MIN_ID } from "../../../src/worker/db/order-list-repository.ts";
import {
  ORDERS_PER_CHUNK,
  rangesOf,
  refreshed,
  type Snapshot,
  toChunks,
} from "../../../src/worker/orders/order-list-snapshot.ts";

const REVISION = { number: 1, token: "a" };
const NEXT = { number: 2, token: "b" };

function chunk(...ids: (number | bigint)[]): string {
  return ids.map((id) => `{"id":${id},"quantity":1}`).join(",");
}

function snapshotOf(...chunks: string[]): Snapshot {
  return { revision: REVISION, chunks: chunks.flatMap(toChunks) };
}

function textOf({ chunks }: Snapshot): string {
  return chunks
    .map(({ bytes }) => new TextDecoder().decode(bytes))
    .join("")
    .slice(1);
}

describe("the chunks of a page", () => {
  const ids = (count: number) => Array.from({ length: count }, (_, i) => BigInt(i) - 500n);

  it.for([
    { orders: 0, chunks: [] },
    { orders: 1, chunks: [-500n] },
    { orders: 1_000, chunks: [499n] },
    { orders: 1_001, chunks: [499n, 500n] },
    { orders: 2_000, chunks: [499n, 1_499n] },
  ])("of $orders orders end with $chunks", ({ orders, chunks }, { expect }) => {
    const json = orders === 0 ? null : chunk(...ids(orders));
    expect(toChunks(json).map(({ lastId }) => lastId)).toEqual(chunks);
    expect(textOf({ revision: REVISION, chunks: toChunks(json) })).toBe(json ?? "");
  });

  it("keep all digits of an id, and of orders that have nothing but an id", ({ expect }) => {
    expect(toChunks(chunk(MAX_ID)).map(({ lastId }) => lastId)).toEqual([MAX_ID]);
    expect(toChunks(`{"id":${MIN_ID}}`).map(({ lastId }) => lastId)).toEqual([MIN_ID]);
  });
});

describe("the ranges of a snapshot", () => {
  it("are all ids, without a gap and without a repetition", ({ expect }) => {
    const snapshot = snapshotOf(chunk(1, 5), chunk(7, 9), chunk(20));
    expect(rangesOf(snapshot)).toEqual([
      [MIN_ID, 5n],
      [6n, 9n],
      [10n, MAX_ID],
    ]);
  });

  it("are one range for one chunk, and for an empty list", ({ expect }) => {
    expect(rangesOf(snapshotOf(chunk(3)))).toEqual([[MIN_ID, MAX_ID]]);
    expect(rangesOf(snapshotOf())).toEqual([[MIN_ID, MAX_ID]]);
  });
});

describe("a refreshed snapshot", () => {
  const before = snapshotOf(chunk(1, 5), chunk(7, 9), chunk(20));

  it("has the revision and the changed ranges, and shares the other chunks", ({ expect }) => {
    const after = refreshed(before, { revision: NEXT, ranges: new Map([[1, chunk(7, 8)]]) });
    expect(after.revision).toBe(NEXT);
    expect(textOf(after)).toBe(chunk(1, 5, 7, 8, 20));
    expect(after.chunks[0]).toBe(before.chunks[0]);
    expect(after.chunks[2]).toBe(before.chunks[2]);
    expect(textOf(before)).toBe(chunk(1, 5, 7, 9, 20));
  });

  it("has several chunks for a range that grew, and none for one that is empty now", ({ expect }) => {
    const changes = new Map<number, string | null>([
      [0, null],
      [2, chunk(...Array.from({ length: ORDERS_PER_CHUNK + 1 }, (_, i) => 20 + i))],
    ]);
    const after = refreshed(before, { revision: NEXT, ranges: changes });
    expect(after.chunks).toHaveLength(3);
    expect(textOf(after).startsWith(`${chunk(7, 9, 20, 21)},`)).toBe(true);
    expect(after.chunks.map(({ lastId }) => lastId)).toEqual([9n, 1_019n, 1_020n]);
  });

  it("grows from nothing, and shrinks to it", ({ expect }) => {
    const grown = refreshed(snapshotOf(), { revision: NEXT, ranges: new Map([[0, chunk(1)]]) });
    expect(textOf(grown)).toBe(chunk(1));
    expect(refreshed(grown, { revision: REVISION, ranges: new Map([[0, null]]) }).chunks).toEqual([]);
    expect(refreshed(snapshotOf(), { revision: NEXT, ranges: new Map() }).chunks).toEqual([]);
  });
});
