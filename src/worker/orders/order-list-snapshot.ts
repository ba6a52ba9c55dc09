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

/** What one change costs a refresh to read: at most 147 kB. */
export const ORDERS_PER_CHUNK = 1_000;

/** The largest list that is cached: some 220,000 orders, and a quarter of the isolate's 128 MB. */
export const MAX_CACHED_LIST_BYTES = 32 * 1024 * 1024;

/** JSON objects with a comma before each: ",{…},{…}". */
export type Chunk = { readonly lastId: bigint; readonly orderCount: number; readonly bytes: Uint8Array };

export type Snapshot = {
  readonly revision: Revision;
  /** By id. Two neighbours never fit into one chunk: there are at most 1 + 2 × orders / ORDERS_PER_CHUNK. */
  readonly chunks: readonly Chunk[];
};

const encoder = new TextEncoder();

/** Orders have no objects and no text of clients in them, so "},{" stands between two orders only. */
export function toChunks(json: OrdersJson): Chunk[] {
  const chunks: Chunk[] = [];
  for (let start = 0; json !== null && start < json.length; ) {
    const { end, orderCount } = nextOrders(json, start);
    chunks.push({ ...encodeOrders(json.slice(start, end)), orderCount });
    start = end + 1;
  }
  return chunks;
}

/** The next orders that make a chunk, and the position after them. */
function nextOrders(json: string, start: number): { end: number; orderCount: number } {
  let end = start - 1;
  for (let orderCount = 1; orderCount <= ORDERS_PER_CHUNK; orderCount++) {
    const boundary = json.indexOf("},{", end + 1);
    if (boundary === -1) return { end: json.length, orderCount };
    end = boundary + 1;
  }
  return { end, orderCount: ORDERS_PER_CHUNK };
}

function encodeOrders(orders: string): Pick<Chunk, "lastId" | "bytes"> {
  const lastId = /^\{"id":(-?\d+)/.exec(orders.slice(orders.lastIndexOf("{")))?.[1];
  if (lastId === undefined) throw new Error("an order begins with its id");
  return { lastId: BigInt(lastId), bytes: encoder.encode(`,${orders}`) };
}

export function isTooLarge(chunks: readonly Chunk[]): boolean {
  return bytesOf(chunks) > MAX_CACHED_LIST_BYTES;
}

export function bytesOf(chunks: readonly Chunk[]): number {
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

/** The snapshot with the ranges that changed. Undefined when it is too large to be cached. */
export function refreshed(snapshot: Snapshot, { revision, ranges }: Refresh): Snapshot | undefined {
  const changed = rangesOf(snapshot).flatMap((_, i) => {
    const json = ranges.get(i);
    return json === undefined ? snapshot.chunks.slice(i, i + 1) : toChunks(json);
  });
  const chunks = joinNeighbours(changed);
  return isTooLarge(chunks) ? undefined : { revision, chunks };
}

function joinNeighbours(chunks: readonly Chunk[]): Chunk[] {
  const joined: Chunk[] = [];
  for (const chunk of chunks) {
    const before = joined.at(-1);
    const orderCount = (before?.orderCount ?? 0) + chunk.orderCount;
    if (!before || orderCount > ORDERS_PER_CHUNK) {
      joined.push(chunk);
      continue;
    }
    const bytes = new Uint8Array(before.bytes.byteLength + chunk.bytes.byteLength);
    bytes.set(before.bytes);
    bytes.set(chunk.bytes, before.bytes.byteLength);
    joined[joined.length - 1] = { lastId: chunk.lastId, orderCount, bytes };
  }
  return joined;
}
