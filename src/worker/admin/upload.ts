/** The text that a client sends: read in part, and received to its end. */

import { TimeoutError, withTimeout } from "../with-timeout.ts";

/** Far more than any other body. Cloudflare refuses one that is longer on most plans. */
const MAX_DISCARDED_CHARS = 100_000_000;

/** Then the client's connection counts as lost. */
const MAX_SILENCE_MS = 60_000;

/** The identity was checked before the upload, and must not stay good for longer. 100 MB at 1 Mbit/s take 14 minutes. */
const MAX_UPLOAD_MS = 3_600_000;

/** The client's connection was lost, or the upload took too long. */
export class BrokenUpload extends Error {}

export class Upload implements AsyncIterable<string> {
  readonly #chunks: AsyncGenerator<string, void>;
  #startedAtMs: number | undefined;

  constructor(text: AsyncIterable<string>) {
    this.#chunks = untilBroken(text);
  }

  /** When the first text arrived; undefined before that. */
  get startedAtMs(): number | undefined {
    return this.#startedAtMs;
  }

  /** Without `return`: a loop that ends early leaves the rest to be discarded. */
  [Symbol.asyncIterator](): AsyncIterator<string, void> {
    return {
      next: async () => {
        const chunk = await this.#chunks.next();
        this.#startedAtMs ??= Date.now();
        return chunk;
      },
    };
  }

  /** A client that is still sending would lose its connection before it reads the answer. */
  async discard(): Promise<void> {
    let chars = 0;
    try {
      for await (const chunk of this.#chunks) {
        chars += chunk.length;
        if (chars > MAX_DISCARDED_CHARS) return;
      }
    } catch (thrown) {
      if (!(thrown instanceof BrokenUpload)) throw thrown;
    }
  }
}

async function* untilBroken(text: AsyncIterable<string>): AsyncGenerator<string, void> {
  const chunks = text[Symbol.asyncIterator]();
  const endsAtMs = Date.now() + MAX_UPLOAD_MS;
  try {
    for (;;) {
      if (Date.now() > endsAtMs) throw new TimeoutError("the upload took too long");
      const chunk = await withTimeout(chunks.next(), MAX_SILENCE_MS);
      if (chunk.done) return;
      yield chunk.value;
    }
  } catch (thrown) {
    throw new BrokenUpload("the upload broke off", { cause: thrown });
  }
}
