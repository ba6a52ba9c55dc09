/** The body of a list: its chunks as one JSON array, streamed or whole. */
import type { Chunk } from "./order-list-snapshot.ts";

const [OPEN, CLOSE] = [new TextEncoder().encode("["), new TextEncoder().encode("]")];

/** Streams the chunks by reference, as fast as the client reads. */
export function streamChunks(chunks: AsyncIterable<Chunk>): ReadableStream<Uint8Array> {
  return toStream(encodeArray(chunks));
}

/** A short list as one body: a stream would cost more than the copy. */
export function toArray(only: Chunk | undefined): Uint8Array {
  const body = new Uint8Array(only ? only.bytes.byteLength + 1 : 2);
  if (only) body.set(only.bytes);
  body.set(OPEN, 0);
  body.set(CLOSE, body.byteLength - 1);
  return body;
}

/** The chunks as one JSON array. Each begins with a comma, of which the first is left out. */
async function* encodeArray(chunks: AsyncIterable<Chunk>): AsyncGenerator<Uint8Array, void> {
  yield OPEN;
  let skip = 1;
  for await (const { bytes } of chunks) {
    yield bytes.subarray(skip);
    skip = 0;
  }
  yield CLOSE;
}

/** Reads on only when the client does: the stream has no buffer of its own. */
function toStream(chunks: AsyncGenerator<Uint8Array, void>): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await chunks.return();
      },
    },
    { highWaterMark: 0 },
  );
}
