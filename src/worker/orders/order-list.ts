/**
 * The list of orders in one isolate. Every response is a snapshot of one revision, which was current after the request
 * arrived, or of a replica that may lag (ADR-19). What changed is read again; what did not is shared by all readers (ADR-6).
 */
import { type Bindings, settingsOf } from "../context.ts";
import {
  MAX_ORDERS_PER_PAGE,
  MIN_ID,
  type Revision,
  readChangedRanges,
  readPage,
  readRevision,
} from "../db/order-list-repository.ts";
import { readNearest } from "../db/session.ts";
import { type Bookmark, laterBookmark } from "../limiter/core/bookmark.ts";
import { logError } from "../log.ts";
import { SingleFlight } from "../single-flight.ts";
import { streamChunks, toArray } from "./order-list-body.ts";
import { type Chunks, OrderListBuild } from "./order-list-build.ts";
import {
  type Chunk,
  ORDERS_PER_CHUNK,
  rangesOf,
  refreshed,
  type Snapshot,
  toChunks,
} from "./order-list-snapshot.ts";

/**
 * How many orders one query reads for a reader of its own: few bytes held for each slow client, and at most 1,000 queries
 * for 2 million orders. No semaphore bounds the readers: a request that is cancelled would never release it.
 */
export const ORDERS_PER_READER_QUERY = 2 * ORDERS_PER_CHUNK;

/** Beyond this, reading the whole list again is cheaper than reading the chunks that changed. */
export const MAX_CHANGES_PER_REFRESH = 100;

/** After the list was too large to be cached, it is not tried again for this long. */
export const RETRY_CACHING_AFTER_MS = 60_000;

const QUERY_TIMEOUT_MS = 10_000;

export type ListRequest = {
  readonly env: Bindings;
  /** The response shows this state of D1 or a later one. */
  readonly bookmark: Bookmark | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly requestId: string;
  readonly waitUntil: (promise: Promise<unknown>) => void;
};

export type ListResponse =
  | { readonly kind: "unchanged"; readonly etag: string }
  | { readonly kind: "whole"; readonly etag: string; readonly body: Uint8Array | ReadableStream<Uint8Array> };

export class OrderList {
  readonly #revisionReads = new SingleFlight<Revision>(QUERY_TIMEOUT_MS);
  readonly #refreshes = new SingleFlight<Snapshot | undefined>(QUERY_TIMEOUT_MS);
  #newestRevision: Revision | null = null;
  #bookmark: Bookmark | undefined;
  #snapshot: Snapshot | null = null;
  #build: OrderListBuild | null = null;
  #isTooLargeUntilMs = 0;

  /** A state of D1 that has every revision returned so far; undefined without read replication. */
  get bookmark(): Bookmark | undefined {
    return this.#bookmark;
  }

  /** One query of one row if nothing changed, two if something did. */
  async open(request: ListRequest): Promise<ListResponse> {
    // A limiter keeps its bookmark after read replication was switched off.
    if (settingsOf(request.env).readsFromReplicas) {
      this.#bookmark = laterBookmark(this.#bookmark, request.bookmark);
    }
    for (let revision = await this.#currentRevision(request); ; ) {
      if (matchesEtag(request.ifNoneMatch, toEtag(revision)))
        return { kind: "unchanged", etag: toEtag(revision) };
      const snapshot = await this.#snapshotAt(revision, request);
      if (snapshot) return whole(snapshot);
      const running = this.#build;
      if (!running || isSame(running.revision, revision))
        return streamed(revision, await this.#readShared(revision, request));
      // Replaced at each change, no build would end, and all its readers would go on by themselves.
      if (!(await running.ended()) && this.#build === running) this.#build = null;
      revision = await this.#revisionReads.run("", this.#readRevision(request), request.waitUntil);
    }
  }

  /** A read that began before this request arrived is not current enough: the next one serves all that waited. */
  #currentRevision(request: ListRequest): Promise<Revision> {
    return this.#revisionReads.runAfterCall("", this.#readRevision(request), request.waitUntil);
  }

  #readRevision({ env }: ListRequest): () => Promise<Revision> {
    return () =>
      readNearest(env, this.#bookmark, async ({ db, bookmark }) =>
        this.#see(await readRevision(db), bookmark()),
      );
  }

  /** The cached snapshot at this revision or a later one, refreshed if need be. Undefined without one. */
  async #snapshotAt(revision: Revision, { env, waitUntil }: ListRequest): Promise<Snapshot | undefined> {
    const cached = this.#snapshot;
    if (!cached || isSame(cached.revision, revision)) return cached ?? undefined;
    const refresh = async () => {
      const changes = await readNearest(env, this.#bookmark, async ({ db, bookmark }) => {
        const read = await readChangedRanges(db, cached.revision, rangesOf(cached), MAX_CHANGES_PER_REFRESH);
        if (read) this.#see(read.revision, bookmark());
        return read;
      });
      const snapshot = changes && refreshed(cached, changes);
      if (this.#snapshot === cached) this.#snapshot = snapshot ?? null;
      return snapshot;
    };
    try {
      return await this.#refreshes.run(toEtag(revision), refresh, waitUntil);
    } catch (thrown) {
      // The same refresh might fail again for every list of this revision and later ones.
      if (this.#snapshot === cached) this.#snapshot = null;
      throw thrown;
    }
  }

  /** The isolate's later reads are at least as new. The bookmark moves with the revision only, as each move is stored. */
  #see(revision: Revision, bookmark: Bookmark | undefined): Revision {
    if (!this.#newestRevision || !isSame(this.#newestRevision, revision)) {
      this.#newestRevision = revision;
      this.#bookmark = laterBookmark(this.#bookmark, bookmark);
    }
    return revision;
  }

  /** Joins the build of this revision, or begins it if none is running. The first chunk is read before the response begins. */
  async #readShared(revision: Revision, request: ListRequest): Promise<AsyncGenerator<Chunk, void>> {
    const read: ReadPage = (fromId, limit) =>
      readChunks(request.env, this.#bookmark, revision, fromId, limit);
    const build = this.#sharedBuild(revision, read, request);
    const chunks = readToEnd(build, read, request.requestId);
    const first = await chunks.next();
    return prepend(first, chunks);
  }

  #sharedBuild(
    revision: Revision,
    read: ReadPage,
    { waitUntil, requestId }: ListRequest,
  ): OrderListBuild | null {
    if (this.#build && isSame(this.#build.revision, revision)) return this.#build;
    if (Date.now() < this.#isTooLargeUntilMs) return null;
    this.#snapshot = null;
    const build = new OrderListBuild(revision);
    this.#build = build;
    waitUntil(
      build
        .run(MIN_ID, (fromId) => read(fromId, MAX_ORDERS_PER_PAGE))
        .then((snapshot) => this.#finish(build, snapshot))
        .catch((thrown) => {
          if (this.#build === build) this.#build = null;
          logError("order_list_build_failed", thrown, { requestId });
        }),
    );
    return build;
  }

  #finish(build: OrderListBuild, snapshot: Snapshot | undefined): void {
    if (this.#build !== build) return;
    this.#build = null;
    if (snapshot) this.#snapshot = snapshot;
    else this.#isTooLargeUntilMs = Date.now() + RETRY_CACHING_AFTER_MS;
  }
}

/** Reads orders of one revision. */
type ReadPage = (fromId: bigint, limit: number) => Promise<Chunks>;

async function readChunks(
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

/** The build's chunks, and if it is abandoned, the rest by queries of this reader's own. */
async function* readToEnd(
  build: OrderListBuild | null,
  read: ReadPage,
  requestId: string,
): AsyncGenerator<Chunk, void> {
  let nextId = MIN_ID;
  try {
    for (const shared = build?.read(); shared; ) {
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

async function* prepend<T>(
  first: IteratorResult<T, void>,
  rest: AsyncGenerator<T, void>,
): AsyncGenerator<T, void> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}

function whole({ revision, chunks }: Snapshot): ListResponse {
  if (chunks.length > 1) return streamed(revision, chunks);
  return { kind: "whole", etag: toEtag(revision), body: toArray(chunks[0]) };
}

function streamed(revision: Revision, chunks: AsyncIterable<Chunk> | readonly Chunk[]): ListResponse {
  return { kind: "whole", etag: toEtag(revision), body: streamChunks(chunks) };
}

function isSame(a: Revision, b: Revision): boolean {
  return a.number === b.number && a.token === b.token;
}

/** A strong ETag: the same revision has the same bytes. */
function toEtag({ number, token }: Revision): string {
  return `"${number}-${token}"`;
}

/** `If-None-Match` uses the weak comparison (RFC 9110, 13.1.2): a proxy that compresses the body prefixes the tag with `W/`. */
function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  return ifNoneMatch.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}
