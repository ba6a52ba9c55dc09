/**
 * The readers of lists in one isolate. What a client that stalls is being sent stays in memory: a whole chunk, which no list may
 * have any more. So only the first readers are sent whole chunks, and while there are more, all are sent small copies.
 */

/** Some 9 MB, if each is being sent another chunk. */
export const MAX_READERS_OF_WHOLE_CHUNKS = 64;

export class OpenReaders {
  /** A reader whose request the runtime cancels gives no notice, and is collected. */
  readonly #readers = new Set<WeakRef<object>>();

  get areMany(): boolean {
    return this.#readers.size > MAX_READERS_OF_WHOLE_CHUNKS;
  }

  /** Returns what ends the reader. */
  add(reader: object): () => void {
    if (this.areMany) this.#forgetCollected();
    const ref = new WeakRef(reader);
    this.#readers.add(ref);
    return () => this.#readers.delete(ref);
  }

  #forgetCollected(): void {
    for (const ref of this.#readers) if (!ref.deref()) this.#readers.delete(ref);
  }
}
