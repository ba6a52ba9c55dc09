/**
 * One isolate's copy of the list, at one revision. It is collected while the list is sent, for one client at a time:
 * many slow clients after a change would otherwise fill the isolate's memory with as many copies.
 */

/** The largest body an isolate keeps: some 60,000 orders, and a small part of its 128 MB. */
export const MAX_CACHED_BODY_BYTES = 8 * 1024 * 1024;

/** A client that takes longer than this for the list gives way to the next as the one it is copied for. */
export const MAX_COLLECT_MS = 10_000;

type Copy = { readonly revision: string; readonly begunAtMs: number; parts: Uint8Array[]; byteCount: number };

export class OrderListCache {
  #kept: { readonly revision: string; readonly body: Uint8Array } | null = null;
  #copy: Copy | null = null;

  at(revision: string): Uint8Array | null {
    return this.#kept?.revision === revision ? this.#kept.body : null;
  }

  keep(revision: string, body: Uint8Array): void {
    this.#kept = { revision, body };
  }

  /** Passes the chunks on, and keeps the whole if it stays within bounds and no other client's copy took its place. */
  async *collect(
    revision: string,
    chunks: AsyncGenerator<Uint8Array, void>,
  ): AsyncGenerator<Uint8Array, void> {
    const copy = this.#begin(revision, Date.now());
    try {
      for await (const chunk of chunks) {
        if (copy) this.#add(copy, chunk);
        yield chunk;
      }
      if (copy && copy === this.#copy) this.keep(revision, concatenate(copy.parts));
    } finally {
      if (copy === this.#copy) this.#copy = null;
    }
  }

  #begin(revision: string, nowMs: number): Copy | null {
    const other = this.#copy;
    if (other?.revision === revision && nowMs - other.begunAtMs < MAX_COLLECT_MS) return null;
    this.#copy = { revision, begunAtMs: nowMs, parts: [], byteCount: 0 };
    return this.#copy;
  }

  #add(copy: Copy, chunk: Uint8Array): void {
    copy.byteCount += chunk.byteLength;
    if (copy.byteCount > MAX_CACHED_BODY_BYTES && copy === this.#copy) this.#copy = null;
    if (copy === this.#copy) copy.parts.push(chunk);
    else copy.parts = [];
  }
}

function concatenate(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.byteLength;
  }
  return whole;
}
