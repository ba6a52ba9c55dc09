/**
 * The requests of one isolate that wait for the lookup of a key, in all and for each key. Those that share a lookup count one by one,
 * since each takes memory.
 *
 * Pure: `nowMs` is a parameter.
 */

type Wait = { readonly key: string; readonly endsAtMs: number };

export class WaitingLookups {
  readonly #maxWaitMs: number;
  /** In the order in which they came, so that the first ends first. */
  readonly #waits = new Set<Wait>();
  readonly #countsByKey = new Map<string, number>();

  constructor(maxWaitMs: number) {
    this.#maxWaitMs = maxWaitMs;
  }

  count(nowMs: number): number {
    this.#dropLate(nowMs);
    return this.#waits.size;
  }

  countOf(key: string, nowMs: number): number {
    this.#dropLate(nowMs);
    return this.#countsByKey.get(key) ?? 0;
  }

  /** Returns what ends the wait. */
  begin(key: string, nowMs: number): () => void {
    const wait = { key, endsAtMs: nowMs + this.#maxWaitMs };
    this.#waits.add(wait);
    this.#countsByKey.set(key, (this.#countsByKey.get(key) ?? 0) + 1);
    return () => this.#end(wait);
  }

  #end(wait: Wait): void {
    if (!this.#waits.delete(wait)) return;
    const left = (this.#countsByKey.get(wait.key) ?? 0) - 1;
    if (left > 0) this.#countsByKey.set(wait.key, left);
    else this.#countsByKey.delete(wait.key);
  }

  /** A request that the runtime cancels does not end its wait. One that began in the future began before the clock was set back. */
  #dropLate(nowMs: number): void {
    for (const wait of this.#waits) {
      const leftMs = wait.endsAtMs - nowMs;
      if (leftMs > 0 && leftMs <= this.#maxWaitMs) return;
      this.#end(wait);
    }
  }
}
