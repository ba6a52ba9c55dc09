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

/** A body's place is plain data: a request ends another request's body by emptying the place. */
type Place = { readonly keyId: string; chunks: readonly Chunk[]; endsAtMs: number };
type ReadMore = (chunk: Chunk) => Promise<readonly Chunk[]>;

export class ListBodies {
  /** Oldest first. */
  readonly #places = new Set<Place>();
  /** The last list of one chunk. Readers share the buffer and take no place. */
  #small: { readonly orders: Uint8Array; readonly body: Uint8Array } | undefined;
  readonly #kept: () => readonly Chunk[];

  /** `kept` returns the chunks of the kept list. Bodies that send the same list share the chunks. */
  constructor(kept: () => readonly Chunk[]) {
    this.#kept = kept;
  }

  /** Sends the orders as a JSON array. Throws a 503 if the isolate or the key has too many bodies. */
  open(chunks: readonly Chunk[], keyId: string, requestId: string, readMore: ReadMore): BodyInit {
    if (chunks[0]?.bytes && chunks.length === 1) return this.#whole(chunks[0].bytes);
    const place = this.#take(keyId, chunks);
    const parts = this.#partsOf(place, readMore);
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
      const { value } = await parts.next().catch((thrown) => {
        this.#end(place);
        logError("order_list_stream_failed", thrown, { requestId });
        throw thrown;
      });
      if (value) controller.enqueue(value);
      else controller.close();
    };
    const start = (controller: ReadableStreamDefaultController<Uint8Array>) =>
      void setTimeout(() => controller.error(tooSlow()), MAX_BODY_MS); // for a client that does not read
    return new ReadableStream({ start, pull, cancel: () => this.#end(place) }, { highWaterMark: 0 });
  }

  async *#partsOf(place: Place, readMore: ReadMore): AsyncGenerator<Uint8Array, void> {
    place.endsAtMs = Date.now() + MAX_BODY_MS;
    yield encoder.encode("[");
    let commaBytes = 1; // the first order has none
    for (let i = 0; i < place.chunks.length; ) {
      const chunk = place.chunks[i++];
      if (chunk?.bytes?.byteLength) {
        yield chunk.bytes.subarray(commaBytes);
        commaBytes = 0;
      } else if (chunk?.bytes === null) {
        const more = await readMore(chunk);
        if (this.#places.has(place)) [place.chunks, i] = [more, 0];
      }
    }
    if (!this.#places.has(place)) throw tooSlow();
    yield encoder.encode("]");
    this.#end(place);
  }

  #whole(orders: Uint8Array): Uint8Array {
    if (this.#small?.orders !== orders) {
      const text = new TextDecoder().decode(orders.subarray(1));
      this.#small = { orders, body: encoder.encode(`[${text}]`) };
    }
    return this.#small.body;
  }

  #take(keyId: string, chunks: readonly Chunk[]): Place {
    const nowMs = Date.now();
    for (const place of this.#places) if (place.endsAtMs <= nowMs) this.#end(place);
    const ofKey = [...this.#places].filter((place) => place.keyId === keyId);
    if (this.#places.size >= MAX_BODIES || ofKey.length >= MAX_BODIES_PER_KEY)
      throw unavailable("Too many lists are being sent. Please try again.", undefined);
    const place = { keyId, chunks, endsAtMs: nowMs + MAX_MS_BEFORE_START };
    this.#places.add(place);
    for (const oldest of this.#places) if (this.#heldBytes() > MAX_LISTS_BYTES) this.#end(oldest);
    return place;
  }

  #end(place: Place): void {
    place.chunks = [];
    this.#places.delete(place);
  }

  #heldBytes(): number {
    const lists = new Set([this.#kept(), ...[...this.#places].map(({ chunks }) => chunks)]);
    return bytesOf([...new Set([...lists].flat())]);
  }
}

const tooSlow = () => new Error("the client was too slow, or the list was replaced too often meanwhile");
