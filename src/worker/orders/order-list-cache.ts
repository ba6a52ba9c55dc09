/**
 * The order list cache of one isolate: the JSON of the whole list at one revision. The body is collected while it is
 * sent to one client, and for one client at a time: otherwise many slow clients would fill the isolate's memory.
 */

/** The largest body that is cached: some 60,000 orders, and a small part of the isolate's 128 MB. */
export const MAX_CACHED_BODY_BYTES = 8 * 1024 * 1024;

/** If a client takes longer than this to read the list, the response to the next client is collected instead. */
export const MAX_COLLECT_MS = 10_000;

type Collection = {
  readonly revision: string;
  readonly startedAtMs: number;
  chunks: Uint8Array[];
  byteCount: number;
};

export class OrderListCache {
  #entry: { readonly revision: string; readonly body: Uint8Array } | null = null;
  #collection: Collection | null = null;

  get(revision: string): Uint8Array | null {
    return this.#entry?.revision === revision ? this.#entry.body : null;
  }

  set(revision: string, body: Uint8Array): void {
    this.#entry = { revision, body };
  }

  /** Yields the chunks unchanged. Caches the body unless it is too large or another collection has replaced this one. */
  async *collect(
    revision: string,
    chunks: AsyncGenerator<Uint8Array, void>,
  ): AsyncGenerator<Uint8Array, void> {
    const collection = this.#start(revision, Date.now());
    try {
      for await (const chunk of chunks) {
        if (collection) this.#add(collection, chunk);
        yield chunk;
      }
      if (collection && collection === this.#collection) this.set(revision, concatenate(collection.chunks));
    } finally {
      if (collection === this.#collection) this.#collection = null;
    }
  }

  #start(revision: string, nowMs: number): Collection | null {
    const current = this.#collection;
    if (current?.revision === revision && nowMs - current.startedAtMs < MAX_COLLECT_MS) return null;
    this.#collection = { revision, startedAtMs: nowMs, chunks: [], byteCount: 0 };
    return this.#collection;
  }

  #add(collection: Collection, chunk: Uint8Array): void {
    collection.byteCount += chunk.byteLength;
    const isTooLarge = collection.byteCount > MAX_CACHED_BODY_BYTES;
    if (isTooLarge && collection === this.#collection) this.#collection = null;
    if (collection === this.#collection) collection.chunks.push(chunk);
    else collection.chunks = [];
  }
}

function concatenate(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0));
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return whole;
}
