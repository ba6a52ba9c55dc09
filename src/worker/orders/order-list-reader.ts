/** A reader of the list at one revision: the chunks that it shares with others, and the rest by queries of its own. */
import type { Bindings } from "../context.ts";
import { MAX_ID, MIN_ID, type Revision, readPage } from "../db/order-list-repository.ts";
import { type Bookmark, readNearest } from "../db/session.ts";
import { unavailable } from "../errors.ts";
import { logError } from "../log.ts";
import { poll } from "../poll.ts";
import { withTimeout } from "../with-timeout.ts";
import type { OpenReaders } from "./open-readers.ts";
import { type Chunk, ORDERS_PER_CHUNK, toChunks } from "./order-list-snapshot.ts";
import { MAX_PAGE_READ_MS, type OwnPage, type OwnPages } from "./own-pages.ts";
import type { Chunks, SharedList } from "./shared-list.ts";

/** How many orders one query reads for a reader of its own: at most 294 kB. 2 million orders take 1,000 queries, D1's maximum for a request. */
export const ORDERS_PER_READER_QUERY = 2 * ORDERS_PER_CHUNK;

/** What a reader is sent at once while there are many (ADR-6). */
export const MAX_COPY_BYTES = 16 * 1024;

/** For a place among the pages that readers hold. After the first page, the alternative is a response that breaks off. */
const MAX_WAIT_MS = { firstPage: 10_000, laterPage: 60_000 };

/** Reads orders of one revision. */
export type ReadPage = (fromId: bigint, limit: number) => Promise<Chunks>;

/** What the readers of one isolate share. */
export type Readers = { readonly open: OpenReaders; readonly pages: OwnPages };

export type ReaderRequest = { readonly keyId: string; readonly requestId: string };

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

/**
 * A class and no generator: between two reads it has its position and no chunk, so that a client that stalls keeps none in
 * memory.
 */
export class ListReader {
  readonly #readers: Readers;
  readonly #read: ReadPage;
  readonly #request: ReaderRequest;
  /** Undefined: its client has not begun to read. */
  #end: (() => void) | undefined;
  /** Null: by itself. */
  #list: SharedList | null;
  #index = 0;
  #page: OwnPage | undefined;
  /** It has sent so many bytes of the orders from `#fromId` on. Null: all. The comma of the first order is left out. */
  #fromId: bigint | null = MIN_ID;
  #sentBytes = 1;

  constructor(readers: Readers, list: SharedList | null, read: ReadPage, request: ReaderRequest) {
    this.#readers = readers;
    this.#list = list;
    this.#read = read;
    this.#request = request;
  }

  /** Its client reads: from the first time on it counts as open. The body of a client that hung up before is neither read nor cancelled. */
  open(): void {
    this.#end ??= this.#readers.open.add(this);
  }

  /** The next bytes of the orders, which are joined by commas. Undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    try {
      while (this.#fromId !== null) {
        const chunk = this.#list ? await this.#nextShared(this.#list) : await this.#nextOwn(this.#fromId);
        const bytes = chunk && this.#bytesOf(chunk);
        if (bytes) return bytes;
      }
      this.close();
      return undefined;
    } catch (thrown) {
      this.close();
      logError("order_list_stream_failed", thrown, { requestId: this.#request.requestId });
      throw thrown;
    }
  }

  close(): void {
    this.#page?.drop();
    this.#end?.();
  }

  /** Undefined at the end of the list, and if the list was abandoned: the reader goes on by itself. */
  async #nextShared(list: SharedList): Promise<Chunk | undefined> {
    const chunk = await list.chunkAt(this.#index);
    if (chunk) return chunk;
    if (list.state === "complete") this.#fromId = null;
    this.#list = null;
    return undefined;
  }

  /** Undefined at the end of a page, and if the page was dropped. */
  async #nextOwn(fromId: bigint): Promise<Chunk | undefined> {
    this.#page ??= await this.#readPage(fromId);
    const chunk = this.#page.first(Date.now());
    if (chunk) return chunk;
    if (!this.#page.isDropped) this.#fromId = this.#page.nextId;
    this.#page = undefined;
    return undefined;
  }

  async #readPage(fromId: bigint): Promise<OwnPage> {
    let page: OwnPage | undefined;
    const isTaken = () => {
      page = this.#readers.pages.take(this.#request.keyId, Date.now());
      return page !== undefined;
    };
    const maxWaitMs = fromId === MIN_ID ? MAX_WAIT_MS.firstPage : MAX_WAIT_MS.laterPage;
    if (!(await poll(isTaken, maxWaitMs)) || !page) {
      throw unavailable("Too many lists are being read. Please try again.", undefined);
    }
    try {
      const read = this.#read(fromId, ORDERS_PER_READER_QUERY);
      page.fill(await withTimeout(read, MAX_PAGE_READ_MS), Date.now());
      return page;
    } catch (thrown) {
      page.drop();
      throw thrown;
    }
  }

  /** What is to be sent of the chunk now. Undefined if all of it was sent before. */
  #bytesOf(chunk: Chunk): Uint8Array | undefined {
    const { bytes } = chunk;
    const from = this.#sentBytes;
    const isCopied = this.#readers.open.areMany;
    const to = isCopied ? Math.min(from + MAX_COPY_BYTES, bytes.byteLength) : bytes.byteLength;
    if (to < bytes.byteLength) this.#sentBytes = to;
    else this.#leaveBehind(chunk);
    if (from >= bytes.byteLength) return undefined;
    return isCopied ? bytes.slice(from, to) : bytes.subarray(from);
  }

  #leaveBehind({ bytes, lastId }: Chunk): void {
    this.#sentBytes = Math.max(0, this.#sentBytes - bytes.byteLength);
    this.#fromId = lastId === MAX_ID ? null : lastId + 1n;
    this.#index++;
    this.#page?.removeFirst();
  }
}
