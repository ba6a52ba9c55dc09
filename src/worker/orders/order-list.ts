/**
 * The whole list as one response: 304 for a client that has the current list, the cached body while the table has not
 * changed, and otherwise a stream of pages, so that memory stays bounded whatever the size of the table.
 */
import type { Database } from "../db/database.ts";
import { type OrderPage, readPage, readRevision } from "../db/order-repository.ts";
import { logError } from "../log.ts";
import type { OrderListCache } from "./order-list-cache.ts";

export type OrderList =
  | { readonly kind: "unchanged"; readonly etag: string }
  | { readonly kind: "whole"; readonly etag: string; readonly body: Uint8Array | ReadableStream<Uint8Array> };

/** Reads one row if nothing changed; otherwise one more query for each 10,000 orders. */
export async function openOrderList(
  db: Database,
  cache: OrderListCache,
  request: { readonly ifNoneMatch: string | undefined; readonly requestId: string },
): Promise<OrderList> {
  const revision = await readRevision(db);
  if (matchesEtag(request.ifNoneMatch, toEtag(revision)))
    return { kind: "unchanged", etag: toEtag(revision) };
  const body = cache.get(revision);
  if (body) return { kind: "whole", etag: toEtag(revision), body };

  // The first page is read before the status is sent: after that, a failure can only abort the connection.
  // If the table changes meanwhile, later pages are newer than the tag, and the tag never matches again.
  const first = await readPage(db, null);
  const etag = toEtag(first.revision);
  if (first.lastId === null) {
    const whole = new TextEncoder().encode(`[${first.json}]`);
    cache.set(first.revision, whole);
    return { kind: "whole", etag, body: whole };
  }
  const chunks = encodeList(readPages(db, first, request.requestId));
  return { kind: "whole", etag, body: toStream(cache.collect(first.revision, chunks)) };
}

async function* readPages(
  db: Database,
  first: OrderPage,
  requestId: string,
): AsyncGenerator<OrderPage, void> {
  yield first;
  try {
    for (let page = first; page.lastId !== null; ) {
      page = await readPage(db, page.lastId);
      yield page;
    }
  } catch (thrown) {
    logError("order_list_stream_failed", thrown, { requestId });
    throw thrown;
  }
}

async function* encodeList(pages: AsyncGenerator<OrderPage, void>): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder();
  let separator = "[";
  for await (const { json } of pages) {
    if (json === "") continue;
    yield encoder.encode(separator + json);
    separator = ",";
  }
  yield encoder.encode("]");
}

/** Reads a page only when the client pulls, and none for a HEAD: the stream has no buffer of its own. */
function toStream(chunks: AsyncGenerator<Uint8Array, void>): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await chunks.return();
      },
    },
    { highWaterMark: 0 },
  );
}

/** A strong ETag: the same revision has the same bytes. */
function toEtag(revision: string): string {
  return `"${revision}"`;
}

/** `If-None-Match` uses the weak comparison (RFC 9110, 13.1.2): a proxy that compresses the body prefixes the tag with `W/`. */
function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  return ifNoneMatch.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}
