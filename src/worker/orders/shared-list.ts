/**
 * The list at one revision, which concurrent requests share while it is read page by page, and afterwards. It is abandoned
 * when reading fails or stalls, when it is too large to be cached, and when too many bytes are held for readers of earlier
 * revisions: each reader then goes on by itself from where it is.
 */
import type { Revision } from "../db/order-list-repository.ts";
import { poll } from "../poll.ts";
import { type Chunk, isTooLarge, type Snapshot } from "./order-list-snapshot.ts";

/** A reading without progress for this long has lost the request that it belongs to. */
export const READING_STALLED_AFTER_MS = 5_000;

/** Consecutive chunks of the list. */
export type Chunks = {
  readonly chunks: readonly Chunk[];
  /** Null after the last. */
  readonly nextId: bigint | null;
};

export type ReadChunks = (fromId: bigint) => Promise<Chunks>;

type State = "reading" | "complete" | "too large" | "abandoned";

export class SharedList {
  readonly revision: Revision;
  #chunks: readonly Chunk[];
  #state: State;

  /** With all of its chunks, or without any, to be read. */
  constructor(revision: Revision, chunks?: readonly Chunk[]) {
    this.revision = revision;
    this.#chunks = chunks ?? [];
    this.#state = chunks ? "complete" : "reading";
  }

  get state(): State {
    return this.#state;
  }

  /** Undefined unless it is complete. */
  get snapshot(): Snapshot | undefined {
    return this.#state === "complete" ? { revision: this.revision, chunks: this.#chunks } : undefined;
  }

  /** Reads everything, until it is too large or abandoned. Rejects when reading fails. */
  async run(fromId: bigint, readChunks: ReadChunks): Promise<void> {
    try {
      for (let nextId = fromId; this.#state === "reading"; ) {
        const page = await readChunks(nextId);
        if (this.#state !== "reading") break;
        this.#chunks = [...this.#chunks, ...page.chunks];
        nextId = page.nextId ?? nextId;
        if (isTooLarge(this.#chunks)) this.#drop("too large");
        else if (page.nextId === null) this.#state = "complete";
        if (this.#state === "reading") await sendQueuedOutput();
      }
    } catch (thrown) {
      this.abandon();
      throw thrown;
    }
  }

  /** A reader that stalls holds this list, but then none of its chunks except those that it is sending. */
  abandon(): void {
    this.#drop("abandoned");
  }

  /** Waits until it is read whole, too large or abandoned. */
  async ended(): Promise<void> {
    while (this.#state === "reading") await this.#waitForMoreThan(this.#chunks.length);
  }

  /** Waits until the chunk is read. Undefined after the last one of a complete list, and of a list that has no chunks any more. */
  async chunkAt(index: number): Promise<Chunk | undefined> {
    await this.#waitForMoreThan(index);
    return this.#chunks[index];
  }

  /** Waits for a further chunk or the end. A reading that has stalled is abandoned: the next request begins another one. */
  async #waitForMoreThan(count: number): Promise<void> {
    const hasMore = () => this.#state !== "reading" || this.#chunks.length > count;
    if (!(await poll(hasMore, READING_STALLED_AFTER_MS))) this.abandon();
  }

  #drop(state: "too large" | "abandoned"): void {
    this.#chunks = [];
    this.#state = state;
  }
}

/** One turn of the event loop. Without it, D1 answers so fast that a list of 100,000 sends no byte before it is read whole. */
function sendQueuedOutput(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
