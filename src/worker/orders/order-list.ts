/**
 * The whole list as one response: not sent at all to a client that has it, taken from the isolate's memory while the
 * table has not changed, and otherwise streamed page by page, so that memory stays bounded whatever the table's size.
 */
import type { Database } from "../db/database.ts";
import { type OrderPage, readPage, readRevision } from "../db/order-repository.ts";
import { logError } from "../log.ts";
import type { OrderListCache } from "./order-list-cache.ts";

export type OrderList =
  | { readonly kind: "unchanged"; readonly etag: string }
  | { readonly kind: "whole"; readonly etag: string; readonly body: Uint8Array | ReadableStream<Uint8Array> };

/** One row read where nothing changed; otherwise one query more for each 10,000 orders. */
export async function openOrderList(
  db: Database,
  kept: OrderListCache,
  request: { readonly ifNoneMatch: string | undefined; readonly requestId: string },
): Promise<OrderList> {
  const revision = await readRevision(db);
  if (matchesTag(request.ifNoneMatch, tagOf(revision))) return { kind: "unchanged", etag: tagOf(revision) };
  const body = kept.at(revision);
  if (body) return { kind: "whole", etag: tagOf(revision), body };

  // The first page is read before the status is sent: past that point a failure can only break the connection off.
  // Of a table that changes meanwhile, later pages are newer; the tag is then one that never matches again.
  const first = await readPage(db, null);
  const etag = tagOf(first.revision);
  if (first.lastId === null) {
    const whole = new TextEncoder().encode(`[${first.json}]`);
    kept.keep(first.revision, whole);
    return { kind: "whole", etag, body: whole };
  }
  const chunks = encodeList(readPages(db, first, request.requestId));
  return { kind: "whole", etag, body: toStream(kept.collect(first.revision, chunks)) };
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

/** Pulled by the client: a page is read when the one before is on its way, and for a HEAD none is. */
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

/** Strong, as the bytes are the same for as long as the revision is. */
function tagOf(revision: string): string {
  return `"${revision}"`;
}

/** `If-None-Match` compares weakly (RFC 9110, 13.1.2): a proxy that compresses the body marks the tag with `W/`. */
function matchesTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  return ifNoneMatch.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}
