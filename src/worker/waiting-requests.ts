/**
 * The requests of one isolate that wait for D1, in all and for each key. Each takes memory, so they are bounded. Those that share
 * a query count one by one.
 */
import { unavailable } from "./errors.ts";

export type WaitRules = {
  readonly maxInAll: number;
  /** So that one key cannot use up what the others need. */
  readonly maxPerKey: number;
  /** No wait counts for longer: a request that the runtime cancels, 30 s after its client hung up, does not end its own. */
  readonly maxWaitMs: number;
};

type Wait = { readonly key: string; readonly endsAtMs: number };

export class WaitingRequests {
  readonly #rules: WaitRules;
  /** In the order in which they came, so that the first ends first. */
  readonly #waits = new Set<Wait>();
  readonly #countsByKey = new Map<string, number>();

  constructor(rules: WaitRules) {
    this.#rules = rules;
  }

  count(): number {
    this.#dropLate(Date.now());
    return this.#waits.size;
  }

  has(key: string): boolean {
    this.#dropLate(Date.now());
    return this.#countsByKey.has(key);
  }

  /** Counts the request while it works. Throws a 503 if too many wait. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const wait = this.#begin(key);
    try {
      return await work();
    } finally {
      this.#end(wait);
    }
  }

  #begin(key: string): Wait {
    const { maxInAll, maxPerKey, maxWaitMs } = this.#rules;
    if (this.count() >= maxInAll) {
      throw unavailable("Too many requests are waiting. Please try again.", undefined);
    }
    const countOfKey = this.#countsByKey.get(key) ?? 0;
    if (countOfKey >= maxPerKey) {
      throw unavailable("Too many requests with this API key are waiting. Please try again.", undefined);
    }
    const wait = { key, endsAtMs: Date.now() + maxWaitMs };
    this.#waits.add(wait);
    this.#countsByKey.set(key, countOfKey + 1);
    return wait;
  }

  #end(wait: Wait): void {
    if (!this.#waits.delete(wait)) return;
    const left = (this.#countsByKey.get(wait.key) ?? 0) - 1;
    if (left > 0) this.#countsByKey.set(wait.key, left);
    else this.#countsByKey.delete(wait.key);
  }

  /** One that began in the future began before the clock was set back. */
  #dropLate(nowMs: number): void {
    for (const wait of this.#waits) {
      const leftMs = wait.endsAtMs - nowMs;
      if (leftMs > 0 && leftMs <= this.#rules.maxWaitMs) return;
      this.#end(wait);
    }
  }
}
