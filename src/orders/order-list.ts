/**
 * The whole list as one response: not sent at all to a client that has it, taken from the isolate's memory while the
 * table has not changed, and otherwise streamed page by page, so that memory stays bounded whatever the table's size.
 */
import type { Database } from "../db/database.ts";
import { logError } from "../log.ts";
import { type OrderPage, readPage, readRevision } from "./order-store.ts";

/** The largest body an isolate keeps: some 60,000 orders, and a small part of its 128 MB. */
export const KEPT_BODY_BYTES = 8 * 1024 * 1024;

export type OrderList =
  | { readonly kind: "unchanged"; readonly etag: string }
  | { readonly kind: "whole"; readonly etag: string; readonly body: Uint8Array | ReadableStream<Uint8Array> };

/** One isolate's copy of the list at one revision. */
export class KeptOrderList {
  #revision: string | null = null;
  #body: Uint8Array | null = null;

  at(revision: string): Uint8Array | null {
    return this.#revision === revision ? this.#body : null;
  }

  keep(revision: string, body: Uint8Array): void {
    this.#revision = revision;
    this.#body = body;
  }
}

/** One row read where nothing changed; otherwise one query more for each 10,000 orders. */
export async function openOrderList(
  db: Database,
  kept: KeptOrderList,
  request: { readonly ifNoneMatch: string | undefined; readonly requestId: string },
): Promise<OrderList> {
  const revision = await readRevision(db);
  if (matchesTag(request.ifNoneMatch, tagOf(revision))) return { kind: "unchanged", etag: tagOf(revision) };
  const body = kept.at(revision);
  if (body) return { kind: "whole", etag: tagOf(revision), body };

  // The first page is read before the status is sent: past that point a failure can only break the connection off.
  // Of a table that changes meanwhile, later pages are newer; the tag is then one that never matches again.
  const first = await readPage(db, null);
  const pages = readPages(db, first, request.requestId);
  const chunks = copying(encodeList(pages), (copy) => kept.keep(first.revision, copy));
  return {
    kind: "whole",
    etag: tagOf(first.revision),
    body: first.lastId === null ? concatenate(await Array.fromAsync(chunks)) : toStream(chunks),
  };
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
    logError("order_list_broken_off", thrown, { requestId });
    throw thrown;
  }
}

async function* encodeList(pages: AsyncGenerator<OrderPage, void>): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder();
  let opening = "[";
  for await (const { json } of pages) {
    if (json === "") continue;
    yield encoder.encode(opening + json);
    opening = ",";
  }
  yield encoder.encode(opening === "[" ? "[]" : "]");
}

/** Passes the chunks on, and hands over a copy of the whole if it stays within bounds. */
async function* copying(
  chunks: AsyncGenerator<Uint8Array, void>,
  onWhole: (copy: Uint8Array) => void,
): AsyncGenerator<Uint8Array, void> {
  const parts: Uint8Array[] = [];
  let byteCount = 0;
  for await (const chunk of chunks) {
    byteCount += chunk.byteLength;
    if (byteCount <= KEPT_BODY_BYTES) parts.push(chunk);
    else parts.length = 0;
    yield chunk;
  }
  if (byteCount <= KEPT_BODY_BYTES) onWhole(concatenate(parts));
}

/** Pulled by the client: a page is read when the one before is on its way. */
function toStream(chunks: AsyncGenerator<Uint8Array, void>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return();
    },
  });
}

function concatenate(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.byteLength;
  }
  return whole;
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
