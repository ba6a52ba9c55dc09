/** The body of a list: its orders as one JSON array, streamed or whole. */
import type { ListReader } from "./order-list-reader.ts";
import type { Chunk } from "./order-list-snapshot.ts";

const [OPEN, CLOSE] = [new TextEncoder().encode("["), new TextEncoder().encode("]")];

/**
 * Streams what the reader reads, as fast as the client reads: the stream has no buffer of its own. `first` was read before the
 * response began.
 */
export function streamArray(reader: ListReader, first?: Uint8Array): ReadableStream<Uint8Array> {
  const begin = first ? [OPEN, first] : [OPEN];
  return new ReadableStream(
    {
      async pull(controller) {
        reader.open();
        const bytes = begin.shift() ?? (await reader.next());
        controller.enqueue(bytes ?? CLOSE);
        if (!bytes) controller.close();
      },
      cancel() {
        reader.close();
      },
    },
    { highWaterMark: 0 },
  );
}

/** A short list as one body: a stream would cost more than the copy. */
export function toArray(only: Chunk | undefined): Uint8Array {
  const body = new Uint8Array(only ? only.bytes.byteLength + 1 : 2);
  if (only) body.set(only.bytes);
  body.set(OPEN, 0);
  body.set(CLOSE, body.byteLength - 1);
  return body;
}
