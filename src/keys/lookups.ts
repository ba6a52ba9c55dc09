/**
 * The lookups of keys that are under way in this isolate. A burst on an isolate that has not met its key waits for the
 * first request's lookup: one query and one try at the fence (D12), which would otherwise take the burst for guesses.
 */

/** The longest that a request waits for another's lookup. */
export const LONGEST_SHARED_WAIT_MS = 1_000;

export class Lookups {
  readonly #underWay = new Map<string, Promise<void>>();

  /** Resolves when the lookup under way is over, however it ended; undefined if there is none. */
  underWay(hash: string): Promise<void> | undefined {
    const lookup = this.#underWay.get(hash);
    return lookup && withinBounds(lookup);
  }

  /** Runs a lookup that later requests with this key wait for; `keepAlive` lets it end, although its client hung up. */
  async run(hash: string, look: () => Promise<unknown>, keepAlive: (lookup: Promise<void>) => void) {
    const lookup = look();
    if (!this.#underWay.has(hash)) {
      const over = lookup.then(ignore, ignore).finally(() => this.#underWay.delete(hash));
      this.#underWay.set(hash, over);
      keepAlive(over);
    }
    await lookup;
  }
}

async function withinBounds(lookup: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const longEnough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, LONGEST_SHARED_WAIT_MS);
  });
  await Promise.race([lookup, longEnough]);
  clearTimeout(timer);
}

function ignore(): void {}
