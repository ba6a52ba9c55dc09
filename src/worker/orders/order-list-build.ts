/**
 * One reading of the whole list, page by page, which concurrent requests share while it goes on. It is abandoned when
 * the list is too large to be cached, or when it fails: each reader then goes on by itself from where it is.
 */
import type { Revision } from "../db/order-list-repository.ts";
import { poll } from "../poll.ts";
import { type Chunk, isTooLarge, type Snapshot } from "./order-list-snapshot.ts";

/** A build without progress for this long has lost the request that it belongs to. */
export const BUILD_STALLED_AFTER_MS = 5_000;

/** Consecutive chunks of the list. */
export type Chunks = {
  readonly chunks: readonly Chunk[];
  /** Null after the last. */
  readonly nextId: bigint | null;
};

export type ReadChunks = (fromId: bigint) => Promise<Chunks>;

export class OrderListBuild {
  readonly revision: Revision;
  #chunks: readonly Chunk[] = [];
  #state: "reading" | "complete" | "abandoned" = "reading";

  constructor(revision: Revision) {
    this.revision = revision;
  }

  /** Reads everything. Undefined when the list is too large. Rejects when reading fails. */
  async run(fromId: bigint, readChunks: ReadChunks): Promise<Snapshot | undefined> {
    try {
      for (let nextId = fromId; this.#state === "reading"; ) {
        const page = await readChunks(nextId);
        if (this.#state !== "reading") break;
        this.#chunks = [...this.#chunks, ...page.chunks];
        nextId = page.nextId ?? nextId;
        if (isTooLarge(this.#chunks)) this.abandon();
        else if (page.nextId === null) this.#state = "complete";
        if (this.#state === "reading") await sendQueuedOutput();
      }
    } catch (thrown) {
      this.abandon();
      throw thrown;
    }
    return this.#state === "complete" ? { revision: this.revision, chunks: this.#chunks } : undefined;
  }

  abandon(): void {
    this.#chunks = [];
    this.#state = "abandoned";
  }

  /** Waits for the end. A build that has stalled is abandoned: false. */
  async ended(): Promise<boolean> {
    while (this.#state === "reading") {
      if (await this.#hasMoreThan(this.#chunks.length)) continue;
      this.abandon();
      return false;
    }
    return true;
  }

  /** The chunks from the first on. Returns whether these were all, false when the build was abandoned or has stalled. */
  async *read(): AsyncGenerator<Chunk, boolean> {
    for (let i = 0; ; i++) {
      if (!(await this.#hasMoreThan(i))) return false;
      const chunk = this.#chunks[i];
      if (!chunk) return this.#state === "complete";
      yield chunk;
    }
  }

  /** Waits for a further chunk or the end. False for a build that has stalled. */
  #hasMoreThan(count: number): Promise<boolean> {
    return poll(() => this.#state !== "reading" || this.#chunks.length > count, BUILD_STALLED_AFTER_MS);
  }
}

/** One turn of the event loop. Without it, D1 answers so fast that a list of 100,000 sends no byte before it is read whole. */
function sendQueuedOutput(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
