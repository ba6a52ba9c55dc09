/**
 * Single-flight for key lookups: while one request looks a key up, others with the same key wait for it. A burst on an
 * isolate without the key in its cache then costs one query and counts once against the per-IP limit (ADR-12).
 */

/** The longest that a request waits for another request's lookup. */
export const MAX_SHARED_WAIT_MS = 1_000;

export class SingleFlight {
  readonly #inFlight = new Map<string, Promise<void>>();

  /** Resolves when the lookup in flight has ended, however it ended; undefined if there is none. */
  wait(hash: string): Promise<void> | undefined {
    const lookup = this.#inFlight.get(hash);
    return lookup && withinBounds(lookup);
  }

  /** Runs a lookup that later requests with this key wait for. `waitUntil` lets it end after its client hung up. */
  async run<T>(hash: string, look: () => Promise<T>, waitUntil: (lookup: Promise<void>) => void): Promise<T> {
    const lookup = look();
    if (!this.#inFlight.has(hash)) {
      const settled = lookup.then(ignore, ignore).finally(() => this.#inFlight.delete(hash));
      this.#inFlight.set(hash, settled);
      waitUntil(settled);
    }
    return await lookup;
  }
}

async function withinBounds(lookup: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const waitedEnough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, MAX_SHARED_WAIT_MS);
  });
  await Promise.race([lookup, waitedEnough]);
  clearTimeout(timer);
}

function ignore(): void {}
