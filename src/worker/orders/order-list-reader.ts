/** A reader of the list at one revision: the chunks that it shares with others, and the rest by queries of its own. */
import type { Bindings } from "../context.ts";
import { MIN_ID, type Revision, readPage } from "../db/order-list-repository.ts";
import { readNearest } from "../db/session.ts";
import type { Bookmark } from "../limiter/core/bookmark.ts";
import { logError } from "../log.ts";
import { type Chunk, ORDERS_PER_CHUNK, toChunks } from "./order-list-snapshot.ts";
import type { Chunks, SharedList } from "./shared-list.ts";

/**
 * How many orders one query reads for a reader of its own: at most 294 kB held for each slow client, and 1,000 queries for
 * 2 million orders. No semaphore bounds the readers: a request that is cancelled would never release it.
 */
export const ORDERS_PER_READER_QUERY = 2 * ORDERS_PER_CHUNK;

/** Reads orders of one revision. */
export type ReadPage = (fromId: bigint, limit: number) => Promise<Chunks>;

export async function readChunks(
  env: Bindings,
  bookmark: Bookmark | undefined,
  revision: Revision,
  fromId: bigint,
  limit: number,
): Promise<Chunks> {
  const { json, nextId } = await readNearest(env, bookmark, ({ db }) =>
    readPage(db, revision, fromId, limit),
  );
  return { chunks: toChunks(json), nextId };
}

/** The shared chunks, and if the list is abandoned, the rest by queries of this reader's own. */
export async function* readToEnd(
  list: SharedList | null,
  read: ReadPage,
  requestId: string,
): AsyncGenerator<Chunk, void> {
  let nextId = MIN_ID;
  try {
    for (const shared = list?.read(); shared; ) {
      const { done, value } = await shared.next();
      if (done && value) return;
      if (done) break;
      yield value;
      nextId = value.lastId + 1n;
    }
    for (let fromId: bigint | null = nextId; fromId !== null; ) {
      const page: Chunks = await read(fromId, ORDERS_PER_READER_QUERY);
      yield* page.chunks;
      fromId = page.nextId;
    }
  } catch (thrown) {
    logError("order_list_stream_failed", thrown, { requestId });
    throw thrown;
  }
}

export async function* prepend<T>(
  first: IteratorResult<T, void>,
  rest: AsyncGenerator<T, void>,
): AsyncGenerator<T, void> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}
