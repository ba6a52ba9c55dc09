/**
 * The pages that readers of one isolate hold for themselves. There are few places. A reader waits for one, and takes the place of
 * a page that its client has not read from for some seconds, which is then dropped and read again. So neither clients that stall
 * nor requests that the runtime cancels keep a place, and one key has half of the places at most.
 *
 * Pure: `nowMs` is a parameter.
 */
import type { Chunk } from "./order-list-snapshot.ts";
import type { Chunks } from "./shared-list.ts";

/** With 2,000 orders in each, up to 9.4 MB. One D1 database runs one query at a time, so more would not be faster. */
export const MAX_OWN_PAGES = 32;

export const MAX_OWN_PAGES_PER_KEY = 16;

/** A query for a page that takes longer fails. */
export const MAX_PAGE_READ_MS = 10_000;

/** Shorter, and the pages of slow clients would be read again and again. */
export const MAX_PAGE_IDLE_MS = 5_000;

export class OwnPages {
  readonly #held = new Set<OwnPage>();

  /** A place for a page that a reader of the key reads now. Undefined while all places, or all of the key, are in use. */
  take(keyId: string, nowMs: number): OwnPage | undefined {
    const held = [...this.#held];
    const ofKey = held.filter((page) => page.keyId === keyId);
    const hasShare = ofKey.length < MAX_OWN_PAGES_PER_KEY;
    if (!hasShare || held.length >= MAX_OWN_PAGES) {
      const idle = (hasShare ? held : ofKey).find((page) => page.isIdle(nowMs));
      if (!idle) return undefined;
      idle.drop();
    }
    const page: OwnPage = new OwnPage(keyId, nowMs, () => this.#held.delete(page));
    this.#held.add(page);
    return page;
  }
}

export class OwnPage {
  readonly keyId: string;
  readonly #leave: () => void;
  #chunks: readonly Chunk[] = [];
  #nextId: bigint | null = null;
  #isDropped = false;
  #usedAtMs: number;
  #maxUnusedMs = MAX_PAGE_READ_MS;

  constructor(keyId: string, nowMs: number, leave: () => void) {
    this.keyId = keyId;
    this.#usedAtMs = nowMs;
    this.#leave = leave;
  }

  /** Where the next page begins; null after the last. */
  get nextId(): bigint | null {
    return this.#nextId;
  }

  /** Whether orders of it are lost, which its reader must read again. */
  get isDropped(): boolean {
    return this.#isDropped;
  }

  /** One that was used in the future was used before the clock was set back. */
  isIdle(nowMs: number): boolean {
    const unusedMs = nowMs - this.#usedAtMs;
    return unusedMs < 0 || unusedMs >= this.#maxUnusedMs;
  }

  fill({ chunks, nextId }: Chunks, nowMs: number): void {
    if (this.#isDropped) return;
    this.#nextId = nextId;
    this.#chunks = chunks;
    this.#maxUnusedMs = MAX_PAGE_IDLE_MS;
    this.#usedAtMs = nowMs;
    if (chunks.length === 0) this.#leave();
  }

  /** The chunk to send. Undefined after the last one, or if the page was dropped. */
  first(nowMs: number): Chunk | undefined {
    this.#usedAtMs = nowMs;
    return this.#chunks[0];
  }

  removeFirst(): void {
    this.#chunks = this.#chunks.slice(1);
    if (this.#chunks.length === 0) this.#leave();
  }

  drop(): void {
    this.#isDropped = true;
    this.#chunks = [];
    this.#leave();
  }
}
