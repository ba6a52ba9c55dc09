/**
 * The list of orders at one revision, as immutable chunks of bytes. A refresh shares the chunks that did not change, and
 * every reader streams the same chunks.
 */
import {
  type IdRange,
  MAX_ID,
  MIN_ID,
  type OrdersJson,
  type Refresh,
  type Revision,
} from "../db/order-list-repository.ts";

/** What one change costs a refresh to read, and what a stalled reader holds: at most 147 kB. */
export const ORDERS_PER_CHUNK = 1_000;

/** JSON objects with a comma before each: ",{…},{…}". */
export type Chunk = { readonly lastId: bigint; readonly bytes: Uint8Array };

export type Snapshot = {
  readonly revision: Revision;
  /** By id. */
  readonly chunks: readonly Chunk[];
};

const encoder = new TextEncoder();

/** Orders have no objects and no text of clients in them, so "},{" stands between two orders only. */
export function toChunks(json: OrdersJson): Chunk[] {
  const chunks: Chunk[] = [];
  for (let start = 0; json !== null && start < json.length; ) {
    const end = endOfOrders(json, start, ORDERS_PER_CHUNK);
    chunks.push(toChunk(json.slice(start, end)));
    start = end + 1;
  }
  return chunks;
}

/** The position after `count` orders, or the end of the text. */
function endOfOrders(json: string, start: number, count: number): number {
  let end = start - 1;
  for (let i = 0; i < count; i++) {
    const boundary = json.indexOf("},{", end + 1);
    if (boundary === -1) return json.length;
    end = boundary + 1;
  }
  return end;
}

function toChunk(orders: string): Chunk {
  const lastId = /^\{"id":(-?\d+)/.exec(orders.slice(orders.lastIndexOf("{")))?.[1];
  if (lastId === undefined) throw new Error("an order begins with its id");
  return { lastId: BigInt(lastId), bytes: encoder.encode(`,${orders}`) };
}

export function byteLengthOf(chunks: readonly Chunk[]): number {
  return chunks.reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
}

/** The range of ids that each chunk stands for. Together they are all ids, so that a new order belongs to a chunk. */
export function rangesOf({ chunks }: Snapshot): readonly IdRange[] {
  if (chunks.length === 0) return [[MIN_ID, MAX_ID]];
  return chunks.map(({ lastId }, i): IdRange => {
    const before = chunks[i - 1];
    return [before ? before.lastId + 1n : MIN_ID, i === chunks.length - 1 ? MAX_ID : lastId];
  });
}

/** The snapshot with the ranges that changed. */
export function refreshed(snapshot: Snapshot, { revision, ranges }: Refresh): Snapshot {
  const chunks = rangesOf(snapshot).flatMap((_, i) => {
    const json = ranges.get(i);
    return json === undefined ? snapshot.chunks.slice(i, i + 1) : toChunks(json);
  });
  return { revision, chunks };
}
