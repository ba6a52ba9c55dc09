/**
 * Reads of single keys, batched into few queries (ADR-24). A read starts a query at once while a slot is free. Otherwise it
 * waits, and the next query reads all keys that wait by then.
 */
import { TimeoutError, withTimeout } from "./with-timeout.ts";

export type BatchRules = {
  /** Slots: this many queries are in flight. */
  readonly maxQueries: number;
  readonly maxKeysPerQuery: number;
  /** A query that takes longer gives up its slot, so that one that hangs does not stop the others. */
  readonly maxSlotMs: number;
  /** The maximum wait for a slot, and the maximum wait for a query. */
  readonly timeoutMs: number;
};

/** Reads several keys with one query. A key that is not found has no entry. */
export type BatchQuery<T> = (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>;

type Read<T> = {
  readonly key: string;
  readonly askedAtMs: number;
  /** Set when a query has been started for the read. */
  found: Promise<ReadonlyMap<string, T>> | undefined;
  /** Ends the wait of the read's request. */
  wake: () => void;
};

export class BatchedReads<T> {
  readonly #rules: BatchRules;
  /** In the order in which they came. */
  readonly #waiting = new Set<Read<T>>();
  readonly #slots = new Set<{ readonly endsAtMs: number }>();

  constructor(rules: BatchRules) {
    this.#rules = rules;
  }

  /** The number of reads that wait for a query. */
  countWaiting(): number {
    this.#dropLate(Date.now());
    return this.#waiting.size;
  }

  /**
   * The value as it is after this call; undefined if it is not found. Rejects with the error of its query, or with a
   * TimeoutError. The query may be started by another request, with that one's `query` and `waitUntil`.
   */
  async read(
    key: string,
    query: BatchQuery<T>,
    waitUntil: (query: Promise<unknown>) => void,
  ): Promise<T | undefined> {
    const read: Read<T> = { key, askedAtMs: Date.now(), found: undefined, wake: () => {} };
    this.#waiting.add(read);
    this.#startQueries(query, waitUntil);
    while (read.found === undefined) {
      await this.#turnOf(read);
      this.#startQueries(query, waitUntil);
      if (read.found === undefined && !this.#waiting.has(read)) {
        throw new TimeoutError(`no query within ${this.#rules.timeoutMs} ms`);
      }
    }
    return (await read.found).get(key);
  }

  /**
   * Ends when the read is first in line and a slot is free, or when a query reads it. It also ends after the longest time that
   * a slot is held: the request that should have freed the slot, or have used it, may have been cancelled by the runtime.
   */
  async #turnOf(read: Read<T>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    read.wake = resolve;
    const timer = setTimeout(resolve, this.#rules.maxSlotMs);
    await promise;
    clearTimeout(timer);
  }

  /** The queries run in the calling request. The runtime does not let one request use the connections of another. */
  #startQueries(query: BatchQuery<T>, waitUntil: (query: Promise<unknown>) => void): void {
    const nowMs = Date.now();
    this.#dropLate(nowMs);
    while (this.#waiting.size > 0 && this.#hasFreeSlot(nowMs)) {
      const reads = [...this.#waiting.values().take(this.#rules.maxKeysPerQuery)];
      const slot = { endsAtMs: nowMs + this.#rules.maxSlotMs };
      this.#slots.add(slot);
      const keys = new Set(reads.map(({ key }) => key));
      const found = withTimeout(query([...keys]), this.#rules.timeoutMs);
      for (const read of reads) {
        this.#waiting.delete(read);
        read.found = found;
        read.wake();
      }
      const end = () => {
        this.#slots.delete(slot);
        for (const first of this.#waiting.values().take(1)) first.wake();
      };
      waitUntil(found.then(end, end));
    }
  }

  #hasFreeSlot(nowMs: number): boolean {
    for (const slot of this.#slots) if (nowMs >= slot.endsAtMs) this.#slots.delete(slot);
    return this.#slots.size < this.#rules.maxQueries;
  }

  #dropLate(nowMs: number): void {
    for (const read of this.#waiting) {
      if (nowMs < read.askedAtMs + this.#rules.timeoutMs) return;
      this.#waiting.delete(read);
      read.wake();
    }
  }
}
