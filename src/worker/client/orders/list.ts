/**
 * The list of orders in an isolate, as chunks that all readers share. Every list is a snapshot of a revision.
 * The revision was current after the request arrived. Only changed chunks are read again (ADR-6).
 */
import type { Bindings } from "../../context.ts";
import { type Database, openDatabase } from "../../db/database.ts";
import { SingleFlight } from "../../platform/single-flight.ts";
import type { Chunk, List, Revision } from "./list-sql.ts";
import * as d1 from "./list-sql.ts";

const NOT_KEPT_FOR_MS = 60_000; // after this time, a list that was too large is tried again
const MAX_ROUNDS = 5; // a list that changes faster than it is read has no snapshot

/** At most this many reads of the revision at once: D1 answers one query after the other. */
const MAX_REVISION_READS = 4;

/** A first list that is too large, or that changes faster than it is read, has no snapshot. */
export type Ahead = Revision | "no snapshot";
type WaitUntil = (promise: Promise<unknown>) => void;

/** Without chunks, the client has the list already. Without an ETag, the list is read while it is sent. */
type Listed = { readonly etag?: string; readonly chunks?: readonly Chunk[] };

export class OrderList {
  readonly #revisionReads = new SingleFlight<Revision>(10_000, MAX_REVISION_READS);
  readonly #builds = new SingleFlight<List | undefined>(30_000);
  #kept: List | undefined;
  #isNotKeptUntilMs = 0;

  /**
   * Begins to read while the limiter decides. Reads the revision, or the whole list if the isolate has none.
   * Rejects if D1 fails; a request that is refused does not look.
   */
  readAhead(env: Bindings, ifNoneMatch: string, waitUntil: WaitUntil): Promise<Ahead> {
    const isFirst = ifNoneMatch === "" && !this.#kept && this.#builds.isIdle && !this.#isTooLarge();
    const ahead = isFirst ? this.#readFirst(env, waitUntil) : this.#readCurrent(env, waitUntil);
    ahead.catch(() => undefined);
    return ahead;
  }

  /** Reads one row, if it was not read ahead. After a change, makes a second query. */
  async open(
    env: Bindings,
    ifNoneMatch: string,
    waitUntil: WaitUntil,
    ahead?: Promise<Ahead>,
  ): Promise<Listed> {
    const revision = await (ahead ?? this.#readCurrent(env, waitUntil));
    if (revision === "no snapshot") return { chunks: d1.UNREAD };
    const etag = toEtag(revision);
    if (matchesEtag(ifNoneMatch, etag)) return { etag };
    const kept = this.#kept;
    if (isWhole(kept) && toEtag(kept.revision) === etag) return { etag, chunks: kept.chunks };
    if (this.#isTooLarge()) return { chunks: d1.UNREAD };
    const isEnough = (built: List | undefined) => !built || toEtag(built.revision) === etag;
    const list = await this.#builds.runAfterCall(() => this.#build(env), waitUntil, isEnough);
    if (!list) return { chunks: d1.UNREAD };
    // The list can be later than the revision: an order changed since.
    const built = toEtag(list.revision);
    return matchesEtag(ifNoneMatch, built) ? { etag: built } : { etag: built, chunks: list.chunks };
  }

  /** The chunks that the isolate keeps for the next list. */
  get keptChunks(): readonly Chunk[] {
    return this.#kept?.chunks ?? [];
  }

  /** Reads the first orders of an unread chunk. If there are more, the last chunk is unread. */
  async readMore(env: Bindings, { low }: Chunk): Promise<readonly Chunk[]> {
    return (await d1.readPage(openDatabase(env.DB), d1.SIZES.ordersPerStreamedPage, low)).chunks;
  }

  /** A read that began before this call is not current enough. Requests that wait share the next read. */
  #readCurrent(env: Bindings, waitUntil: WaitUntil): Promise<Revision> {
    return this.#revisionReads.runAfterCall(() => d1.readRevision(openDatabase(env.DB)), waitUntil);
  }

  /** The first list of an isolate brings its revision with it. */
  async #readFirst(env: Bindings, waitUntil: WaitUntil): Promise<Ahead> {
    const list = await this.#builds.runAfterCall(() => this.#build(env), waitUntil);
    return list?.revision ?? "no snapshot";
  }

  #isTooLarge(): boolean {
    return Date.now() < this.#isNotKeptUntilMs;
  }

  /** Brings the kept list up to date. Returns undefined without a snapshot. */
  async #build(env: Bindings): Promise<List | undefined> {
    const from = this.#kept;
    this.#kept = undefined; // if the kept list causes a failure, the next list starts anew
    this.#kept = await build(openDatabase(env.DB), from);
    if (!this.#kept) this.#isNotKeptUntilMs = Date.now() + NOT_KEPT_FOR_MS;
    return isWhole(this.#kept) ? this.#kept : undefined;
  }
}

/**
 * First reads the unread chunks, while the table may change. Then one statement reads every changed chunk
 * again, so the result shows a single moment. Chunks that the statement left unread go into the next round.
 * Returns undefined if the list is too large.
 */
async function build(db: Database, from: List | undefined): Promise<List | undefined> {
  let list = from;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const seen: Revision[] = list && list.chunks !== d1.UNREAD ? [list.revision] : [];
    const chunks = await readUnread(db, list?.chunks ?? d1.UNREAD, seen);
    const [first, ...later] = seen;
    if (!chunks || !first) return undefined;
    // Pages of one revision show a single moment already.
    if (!list && later.every((each) => toEtag(each) === toEtag(first))) return { revision: first, chunks };
    list = await d1.readChanges(db, [first, ...later], chunks);
    if (isWhole(list)) break;
  }
  return list;
}

async function readUnread(db: Database, chunks: readonly Chunk[], seen: Revision[]) {
  const read: Chunk[] = [];
  for (const [i, chunk] of chunks.entries()) {
    read.push(chunk);
    while (read.at(-1)?.bytes === null) {
      const low = read.pop()?.low ?? chunk.low;
      const page = await d1.readPage(db, d1.SIZES.ordersPerPage, low, chunks[i + 1]?.low);
      seen.push(page.revision);
      read.push(...page.chunks);
      if (bytesOf(read) > d1.SIZES.maxListBytes) return undefined;
    }
  }
  return read;
}

function isWhole(list: List | undefined): list is List {
  return list?.chunks.every(({ bytes }) => bytes !== null) ?? false;
}

export function bytesOf(chunks: readonly Chunk[]): number {
  return chunks.reduce((sum, { bytes }) => sum + (bytes?.byteLength ?? 0), 0);
}

/** The ETag is strong, because the same revision always has the same bytes. */
function toEtag({ number, token }: Revision): string {
  return `"${number}-${token}"`;
}

/** What a proxy puts behind a tag if it compresses the body: `-gzip`, `--gzip` or `;gzip`, before or after `"`. */
const REST_OF_TAG = /^(?:[-;:]{1,2}[\w-]+)?"(?:[-;:]{1,2}[\w-]+)?$/;

/**
 * The weak comparison (RFC 9110, 13.1.2). A proxy that compresses the body changes the tag: `W/"…"` (nginx,
 * HAProxy), `"…-gzip"` (Apache), `"…--gzip"` (Jetty). Some do not change it back in the next request.
 */
function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  const tags = ifNoneMatch.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  const start = etag.slice(0, -1);
  const isOurs = (tag: string) => tag.startsWith(start) && REST_OF_TAG.test(tag.slice(start.length));
  return tags.some(isOurs) || (tags.length === 1 && tags[0] === "*");
}
