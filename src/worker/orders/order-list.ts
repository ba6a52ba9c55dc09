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
  readRevision,
} from "../db/order-list-repository.ts";
import { type Bookmark, laterBookmark, readNearest } from "../db/session.ts";
import { logError } from "../log.ts";
import { SingleFlight } from "../single-flight.ts";
import { OpenReaders } from "./open-readers.ts";
import { streamArray, toArray } from "./order-list-body.ts";
import { ListReader, type ReadPage, readChunks } from "./order-list-reader.ts";
import { rangesOf, refreshed } from "./order-list-snapshot.ts";
import { OwnPages } from "./own-pages.ts";
import { ReplacedLists } from "./replaced-lists.ts";
import { SharedList } from "./shared-list.ts";

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
  readonly keyId: string;
  readonly requestId: string;
  readonly waitUntil: (promise: Promise<unknown>) => void;
};

export type ListResponse =
  | { readonly kind: "unchanged"; readonly etag: string }
  | { readonly kind: "whole"; readonly etag: string; readonly body: Uint8Array | ReadableStream<Uint8Array> };

export class OrderList {
  readonly #revisionReads = new SingleFlight<Revision>(QUERY_TIMEOUT_MS);
  readonly #refreshes = new SingleFlight<SharedList | undefined>(QUERY_TIMEOUT_MS);
  readonly #replaced = new ReplacedLists();
  readonly #readers = { open: new OpenReaders(), pages: new OwnPages() };
  #newestRevision: Revision | null = null;
  #bookmark: Bookmark | undefined;
  #cached: SharedList | null = null;
  /** The list that the last refresh began with, which is not kept for it. */
  #refreshBase: WeakRef<SharedList> | undefined;
  /** The one being read. */
  #build: SharedList | null = null;
  #isTooLargeUntilMs = 0;

  /** One query of one row if nothing changed, two if something did. */
  async open(request: ListRequest): Promise<ListResponse> {
    // A limiter keeps its bookmark after read replication was switched off.
    if (settingsOf(request.env).readsFromReplicas) {
      this.#bookmark = laterBookmark(this.#bookmark, request.bookmark);
    }
    for (let revision = await this.#currentRevision(request); ; ) {
      if (matchesEtag(request.ifNoneMatch, toEtag(revision)))
        return { kind: "unchanged", etag: toEtag(revision) };
      const cached = await this.#cachedAt(revision, request);
      if (cached) return this.#whole(cached, request);
      // Built while this request waited for a refresh that found too many changes.
      if (this.#cached?.snapshot) continue;
      const running = this.#running;
      if (!running || isSame(running.revision, revision)) return this.#readShared(revision, request);
      // Replaced at each change, no build would end, and all its readers would go on by themselves.
      await running.ended();
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

  /**
   * The cached list at this revision or a later one, refreshed if need be. Undefined without one. One refresh goes on at a time,
   * since each may read 14 MB: a request for another revision waits for its end, and those that waited share the next one.
   */
  async #cachedAt(revision: Revision, { env, waitUntil }: ListRequest): Promise<SharedList | undefined> {
    const cached = this.#cached;
    const base = cached?.snapshot;
    if (!cached || !base) return undefined;
    if (isSame(base.revision, revision)) return cached;
    const isEnough = (list: SharedList | undefined) => list !== undefined && isSame(list.revision, revision);
    try {
      return await this.#refreshes.runAfterCall("", () => this.#refresh(env), waitUntil, isEnough);
    } catch (thrown) {
      // The same refresh might fail again for every list of this revision and later ones.
      if (this.#cached === this.#refreshBase?.deref()) this.#cache(null);
      throw thrown;
    }
  }

  async #refresh(env: Bindings): Promise<SharedList | undefined> {
    const cached = this.#cached;
    // Its chunks stay, although the list may be abandoned while D1 is read.
    const base = cached?.snapshot;
    if (!cached || !base) return undefined;
    this.#refreshBase = new WeakRef(cached);
    const changes = await readNearest(env, this.#bookmark, async ({ db, bookmark }) => {
      const read = await readChangedRanges(db, base.revision, rangesOf(base), MAX_CHANGES_PER_REFRESH);
      if (read) this.#see(read.revision, bookmark());
      return read;
    });
    const snapshot = changes && refreshed(base, changes);
    const list = snapshot && new SharedList(snapshot.revision, snapshot.chunks);
    if (this.#cached === cached) this.#cache(list ?? null);
    else if (list) this.#replaced.add(list, this.#cached);
    return list;
  }

  #cache(list: SharedList | null): void {
    const earlier = this.#cached;
    this.#cached = list;
    if (earlier) this.#replaced.add(earlier, list);
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
  async #readShared(revision: Revision, request: ListRequest): Promise<ListResponse> {
    const read = this.#pageReader(revision, request);
    const build = this.#sharedBuild(revision, read, request);
    const reader = new ListReader(this.#readers, build, read, request);
    const first = await reader.next();
    return { kind: "whole", etag: toEtag(revision), body: streamArray(reader, first) };
  }

  #sharedBuild(revision: Revision, read: ReadPage, { waitUntil, requestId }: ListRequest): SharedList | null {
    const running = this.#running;
    if (running && isSame(running.revision, revision)) return running;
    if (Date.now() < this.#isTooLargeUntilMs) return null;
    this.#cache(null);
    const build = new SharedList(revision);
    this.#build = build;
    waitUntil(
      build
        .run(MIN_ID, (fromId) => read(fromId, MAX_ORDERS_PER_PAGE))
        .then(() => this.#finish(build))
        .catch((thrown) => {
          if (this.#build === build) this.#build = null;
          logError("order_list_build_failed", thrown, { requestId });
        }),
    );
    return build;
  }

  #finish(build: SharedList): void {
    if (this.#build !== build) return;
    this.#build = null;
    if (build.state === "complete") this.#cache(build);
    if (build.state === "too large") this.#isTooLargeUntilMs = Date.now() + RETRY_CACHING_AFTER_MS;
  }

  /** Without one that was abandoned: the runtime may have cancelled the request that it belongs to. */
  get #running(): SharedList | null {
    return this.#build?.state === "abandoned" ? null : this.#build;
  }

  #pageReader(revision: Revision, { env }: ListRequest): ReadPage {
    return (fromId, limit) => readChunks(env, this.#bookmark, revision, fromId, limit);
  }

  #whole(list: SharedList, request: ListRequest): ListResponse {
    const chunks = list.snapshot?.chunks;
    if (chunks && chunks.length <= 1)
      return { kind: "whole", etag: toEtag(list.revision), body: toArray(chunks[0]) };
    const read = this.#pageReader(list.revision, request);
    const reader = new ListReader(this.#readers, list, read, request);
    return { kind: "whole", etag: toEtag(list.revision), body: streamArray(reader) };
  }
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
