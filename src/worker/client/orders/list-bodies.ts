/** The bodies of lists that an isolate is sending. Their number, time and size are bounded. */
import { unavailable } from "../../platform/errors.ts";
import { logError } from "../../platform/log.ts";
import { MAX_LISTS_BYTES } from "../../platform/memory.ts";
import { bytesOf } from "./list.ts";
import type { Chunk } from "./list-sql.ts";

export const MAX_BODIES = 64;
export const MAX_BODIES_PER_KEY = 16;
export const MAX_BODY_MS = 5 * 60_000;
/** If the client hung up before its body starts, the body is neither read nor cancelled. */
export const MAX_MS_BEFORE_START = 10_000;

const encoder = new TextEncoder();

/** A body's slot is plain data: a request ends another request's body by emptying the slot. */
type Slot = { readonly keyId: string; chunks: readonly Chunk[]; endsAtMs: number };
type ReadMore = (chunk: Chunk) => Promise<readonly Chunk[]>;

export class ListBodies {
  /** Oldest first. */
  readonly #slots = new Set<Slot>();
  /** The last list of one chunk. Readers share the buffer and take no slot. */
  #small: { readonly orders: Uint8Array; readonly body: Uint8Array } | undefined;
  readonly #kept: () => readonly Chunk[];

  /** `kept` returns the chunks of the kept list. Bodies that send the same list share the chunks. */
  constructor(kept: () => readonly Chunk[]) {
    this.#kept = kept;
  }

  /** Sends the orders as a JSON array. Throws a 503 if the isolate or the key has too many bodies. */
  open(chunks: readonly Chunk[], keyId: string, requestId: string, readMore: ReadMore): BodyInit {
    if (chunks[0]?.bytes && chunks.length === 1) return this.#whole(chunks[0].bytes);
    const slot = this.#take(keyId, chunks);
    const parts = this.#partsOf(slot, readMore);
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      const { value } = await parts.next().catch((thrown) => {
        this.#end(slot);
        logError("order_list_stream_failed", thrown, { requestId });
        throw thrown;
      });
      if (value) controller.enqueue(value);
      else controller.close();
    };
    const start = (controller: ReadableStreamDefaultController<Uint8Array>) =>
      void setTimeout(() => controller.error(tooSlow()), MAX_BODY_MS); // for a client that does not read
    return new ReadableStream({ start, pull, cancel: () => this.#end(slot) }, { highWaterMark: 0 });
  }

  async *#partsOf(slot: Slot, readMore: ReadMore): AsyncGenerator<Uint8Array, void> {
    slot.endsAtMs = Date.now() + MAX_BODY_MS;
    yield encoder.encode("[");
    let commaBytes = 1; // the first order has none
    for (let i = 0; i < slot.chunks.length; ) {
      const chunk = slot.chunks[i++];
      if (chunk?.bytes?.byteLength) {
        yield chunk.bytes.subarray(commaBytes);
        commaBytes = 0;
      } else if (chunk?.bytes === null) {
        const more = await readMore(chunk);
        if (this.#slots.has(slot)) [slot.chunks, i] = [more, 0];
      }
    }
    if (!this.#slots.has(slot)) throw tooSlow();
    yield encoder.encode("]");
    this.#end(slot);
  }

  #whole(orders: Uint8Array): Uint8Array {
    if (this.#small?.orders !== orders) {
      const text = new TextDecoder().decode(orders.subarray(1));
      this.#small = { orders, body: encoder.encode(`[${text}]`) };
    }
    return this.#small.body;
  }

  #take(keyId: string, chunks: readonly Chunk[]): Slot {
    const nowMs = Date.now();
    for (const slot of this.#slots) if (slot.endsAtMs <= nowMs) this.#end(slot);
    const ofKey = [...this.#slots].filter((slot) => slot.keyId === keyId);
    if (this.#slots.size >= MAX_BODIES || ofKey.length >= MAX_BODIES_PER_KEY)
      throw unavailable("Too many lists are being sent. Please try again.", undefined);
    const slot = { keyId, chunks, endsAtMs: nowMs + MAX_MS_BEFORE_START };
    this.#slots.add(slot);
    for (const oldest of this.#slots) if (this.#heldBytes() > MAX_LISTS_BYTES) this.#end(oldest);
    return slot;
  }

  #end(slot: Slot): void {
    slot.chunks = [];
    this.#slots.delete(slot);
  }

  #heldBytes(): number {
    const lists = new Set([this.#kept(), ...[...this.#slots].map(({ chunks }) => chunks)]);
    return bytesOf([...new Set([...lists].flat())]);
  }
}

const tooSlow = () => new Error("the client was too slow, or the list was replaced too often meanwhile");
