/** Snapshots of the list: which ids each chunk stands for, and what a refresh shares. */
import fc from "fast-check";
import { describe, it } from "vitest";
import { type IdRange, MAX_ID, MIN_ID, type Refresh } from "../../../src/worker/db/order-list-repository.ts";
import {
  MAX_CACHED_LIST_BYTES,
  ORDERS_PER_CHUNK,
  rangesOf,
  refreshed as refreshedOrDropped,
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

/** Of a list that is small enough to be cached. */
function refreshed(snapshot: Snapshot, refresh: Refresh): Snapshot {
  const after = refreshedOrDropped(snapshot, refresh);
  if (!after) throw new Error("the snapshot was dropped");
  return after;
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

/** Orders with these ids, both included. */
function orders(from: number, to: number): string {
  return chunk(...Array.from({ length: to - from + 1 }, (_, i) => from + i));
}

describe("a refreshed snapshot", () => {
  const before = snapshotOf(orders(1, 600), orders(1_001, 1_600), orders(2_001, 2_600));

  it("has the revision and the changed ranges, and shares the other chunks", ({ expect }) => {
    const after = refreshed(before, { revision: NEXT, ranges: new Map([[1, orders(1_001, 1_599)]]) });
    expect(after.revision).toBe(NEXT);
    expect(textOf(after)).toBe([orders(1, 600), orders(1_001, 1_599), orders(2_001, 2_600)].join(","));
    expect(after.chunks[0]).toBe(before.chunks[0]);
    expect(after.chunks[2]).toBe(before.chunks[2]);
    expect(textOf(before)).toBe([orders(1, 600), orders(1_001, 1_600), orders(2_001, 2_600)].join(","));
  });

  it("has several chunks for a range that grew, and none for one that is empty now", ({ expect }) => {
    const changes = new Map<number, string | null>([
      [0, null],
      [2, orders(2_001, 3_001)],
    ]);
    const after = refreshed(before, { revision: NEXT, ranges: changes });
    expect(textOf(after)).toBe(`${orders(1_001, 1_600)},${orders(2_001, 3_001)}`);
    expect(after.chunks.map(({ lastId }) => lastId)).toEqual([1_600n, 3_000n, 3_001n]);
  });

  it("joins a chunk that shrank with the one before or after it, if both fit into one", ({ expect }) => {
    const shrunk = new Map([[1, orders(1_001, 1_400)]]);
    const after = refreshed(before, { revision: NEXT, ranges: shrunk });
    expect(textOf(after)).toBe([orders(1, 600), orders(1_001, 1_400), orders(2_001, 2_600)].join(","));
    expect(after.chunks.map(({ lastId }) => lastId)).toEqual([1_400n, 2_600n]);
    const first = refreshed(before, { revision: NEXT, ranges: new Map([[0, orders(1, 400)]]) });
    expect(first.chunks.map(({ lastId }) => lastId)).toEqual([1_600n, 2_600n]);
  });

  it("has at most 32 MB: a larger one is dropped", ({ expect }) => {
    const added = chunk(2);
    const largest = (byteLength: number): Snapshot => ({
      revision: REVISION,
      chunks: [
        { lastId: 1n, orderCount: ORDERS_PER_CHUNK, bytes: new Uint8Array(byteLength) },
        ...toChunks(chunk(2)),
      ],
    });
    const ranges = new Map([[1, `${added},${added}`]]);
    const bytesLeft = MAX_CACHED_LIST_BYTES - 2 * `,${added}`.length;
    expect(refreshed(largest(bytesLeft), { revision: NEXT, ranges }).chunks).toHaveLength(2);
    expect(refreshedOrDropped(largest(bytesLeft + 1), { revision: NEXT, ranges })).toBeUndefined();
  });

  it("grows from nothing, and shrinks to it", ({ expect }) => {
    const grown = refreshed(snapshotOf(), { revision: NEXT, ranges: new Map([[0, chunk(1)]]) });
    expect(textOf(grown)).toBe(chunk(1));
    expect(refreshed(grown, { revision: REVISION, ranges: new Map([[0, null]]) }).chunks).toEqual([]);
    expect(refreshed(snapshotOf(), { revision: NEXT, ranges: new Map() }).chunks).toEqual([]);
  });
});

/** The orders whose ids are `from`, `from + every`, … up to `to` are inserted, deleted or changed. */
type Step = { kind: "insert" | "delete" | "change"; from: number; to: number; every: number };

const LARGEST_ID = 8_000;
const position = fc.integer({ min: 1, max: LARGEST_ID });
const step: fc.Arbitrary<Step> = fc
  .record({
    kind: fc.constantFrom("insert", "insert", "delete", "change"),
    ends: fc.oneof(
      position.map((id) => [id, id] as const),
      fc.tuple(position, position),
    ),
    every: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 2_000 })),
  })
  .map(({ kind, ends: [a, b], every }) => ({ kind, from: Math.min(a, b), to: Math.max(a, b), every }));

/** The table: quantities by id. */
class Table {
  readonly #quantities = new Map<number, number>();

  /** Returns the ids that changed. */
  apply({ kind, from, to, every }: Step): number[] {
    const changed: number[] = [];
    for (let id = from; id <= to; id += every) {
      const quantity = this.#quantities.get(id);
      if ((quantity === undefined) !== (kind === "insert")) continue;
      if (kind === "delete") this.#quantities.delete(id);
      else this.#quantities.set(id, (quantity ?? 0) + 1);
      changed.push(id);
    }
    return changed;
  }

  get size(): number {
    return this.#quantities.size;
  }

  json(low: bigint, high: bigint): string | null {
    const orders: string[] = [];
    for (let id = 1; id <= LARGEST_ID; id++) {
      const quantity = id < low || id > high ? undefined : this.#quantities.get(id);
      if (quantity !== undefined) orders.push(`{"id":${id},"quantity":${quantity}}`);
    }
    return orders.length === 0 ? null : orders.join(",");
  }

  /** What D1 answers to a refresh. */
  changedRanges(snapshot: Snapshot, changedIds: readonly number[]): Map<number, string | null> {
    const isTouched = ([low, high]: IdRange) => changedIds.some((id) => id >= low && id <= high);
    return new Map(
      rangesOf(snapshot).flatMap((range, i) => (isTouched(range) ? [[i, this.json(...range)]] : [])),
    );
  }
}

describe("the ranges of the largest cached list", () => {
  it("are one text that D1 accepts: at most 2,000,000 bytes", ({ expect }) => {
    const orders = MAX_CACHED_LIST_BYTES / `,{"id":1}`.length;
    const chunks = 1 + (2 * orders) / ORDERS_PER_CHUNK;
    expect(chunks * `[${MIN_ID},${MIN_ID}],`.length).toBeLessThan(2_000_000);
  });
});

describe("a snapshot after any inserts, deletions and changes", () => {
  it("has the bytes of a full reading, in chunks of which two neighbours never fit into one", ({
    expect,
  }) => {
    fc.assert(
      fc.property(fc.nat(LARGEST_ID), fc.array(step, { maxLength: 30 }), (orders, steps) => {
        const table = new Table();
        table.apply({ kind: "insert", from: 1, to: orders, every: 1 });
        let snapshot: Snapshot = { revision: REVISION, chunks: toChunks(table.json(MIN_ID, MAX_ID)) };
        for (const step of steps) {
          const ranges = table.changedRanges(snapshot, table.apply(step));
          snapshot = refreshed(snapshot, { revision: NEXT, ranges });
          const counts = snapshot.chunks.map(
            ({ bytes }) => new TextDecoder().decode(bytes).split("},{").length,
          );
          expect(Math.max(0, ...counts)).toBeLessThanOrEqual(ORDERS_PER_CHUNK); // rows that a change costs
          expect(counts.length).toBeLessThanOrEqual(1 + (2 * table.size) / ORDERS_PER_CHUNK);
          expect(counts.filter((n, i) => n + (counts[i + 1] ?? Infinity) <= ORDERS_PER_CHUNK)).toEqual([]);
        }
        expect(textOf(snapshot)).toBe(table.json(MIN_ID, MAX_ID) ?? "");
      }),
      { numRuns: 30 },
    );
  });
});
