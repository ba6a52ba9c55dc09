/**
 * The pages that readers of one isolate hold for themselves. There are few places. A reader waits for one, and takes the place of
 * a page that its client has not read from for a second, which is then dropped and read again. So neither clients that stall
 * nor requests that the runtime cancels keep a place.
 *
 * Pure: `nowMs` is a parameter.
 */
import type { Chunk } from "./order-list-snapshot.ts";
import type { Chunks } from "./shared-list.ts";

/** With 2,000 orders in each, up to 9.4 MB. One D1 database runs one query at a time, so more would not be faster. */
export const MAX_OWN_PAGES = 32;

/** A query for a page that takes longer has lost its request. */
const MAX_READ_MS = 10_000;
const MAX_IDLE_MS = 1_000;

export class OwnPages {
  readonly #held = new Set<OwnPage>();

  /** A place for a page that is read now. Undefined while all places are in use. */
  take(nowMs: number): OwnPage | undefined {
    if (this.#held.size >= MAX_OWN_PAGES) {
      const idle = [...this.#held].find((page) => page.isIdle(nowMs));
      if (!idle) return undefined;
      idle.drop();
    }
    const page: OwnPage = new OwnPage(nowMs, () => this.#held.delete(page));
    this.#held.add(page);
    return page;
  }
}

export class OwnPage {
  readonly #leave: () => void;
  #chunks: readonly Chunk[] = [];
  #nextId: bigint | null = null;
  #isDropped = false;
  #usedAtMs: number;
  #maxUnusedMs = MAX_READ_MS;

  constructor(nowMs: number, leave: () => void) {
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
    this.#maxUnusedMs = MAX_IDLE_MS;
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
