/**
 * Reads of single keys, batched into few queries (ADR-24). A read starts a query at once while a slot is free. Otherwise it
 * waits, and the next query reads all keys that wait by then.
 */
import { type Outcome, poll, unwrap } from "./poll.ts";
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

type Values<T> = ReadonlyMap<string, T>;

/** A query in flight or done. */
type Batch<T> = { readonly startedAtMs: number; outcome: Outcome<Values<T>> };

type Read<T> = {
  readonly key: string;
  readonly askedAtMs: number;
  /** Set when a query has been started for the read. */
  batch: Batch<T> | undefined;
  /** The query's result, if the read's own request has started it. */
  own: Promise<Values<T>> | undefined;
};

export class BatchedReads<T> {
  readonly #rules: BatchRules;
  /** In the order in which they came. */
  readonly #waiting = new Set<Read<T>>();
  readonly #slots = new Set<{ readonly endsAtMs: number }>();

  constructor(rules: BatchRules) {
    this.#rules = rules;
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
    const { timeoutMs } = this.#rules;
    const read: Read<T> = { key, askedAtMs: Date.now(), batch: undefined, own: undefined };
    this.#waiting.add(read);
    // Any request that waits may start the next query: the one that is first may have been cancelled by the runtime.
    await poll(() => {
      this.#startQueries(read, query, waitUntil);
      return read.batch !== undefined || !this.#waiting.has(read);
    }, timeoutMs);
    this.#waiting.delete(read);
    const { batch, own } = read;
    if (own) return (await own).get(key);
    if (!batch) throw new TimeoutError(`no query within ${timeoutMs} ms`);
    await poll(
      () => batch.outcome !== undefined,
      Math.min(timeoutMs, batch.startedAtMs + timeoutMs - Date.now()),
    );
    if (!batch.outcome) throw new TimeoutError(`no result within ${timeoutMs} ms`);
    return unwrap(batch.outcome).get(key);
  }

  /** The queries run in the calling request, that of `caller`. The runtime does not let one request use the connections of another. */
  #startQueries(caller: Read<T>, query: BatchQuery<T>, waitUntil: (query: Promise<unknown>) => void): void {
    const nowMs = Date.now();
    this.#dropLate(nowMs);
    while (this.#waiting.size > 0 && this.#hasFreeSlot(nowMs)) {
      const reads = [...this.#waiting.values().take(this.#rules.maxKeysPerQuery)];
      const slot = { endsAtMs: nowMs + this.#rules.maxSlotMs };
      this.#slots.add(slot);
      const batch: Batch<T> = { startedAtMs: nowMs, outcome: undefined };
      for (const read of reads) {
        this.#waiting.delete(read);
        read.batch = batch;
      }
      const found = withTimeout(query([...new Set(reads.map(({ key }) => key))]), this.#rules.timeoutMs);
      if (caller.batch === batch) caller.own = found;
      waitUntil(
        Promise.allSettled([found]).then(([outcome]) => {
          batch.outcome = outcome;
          this.#slots.delete(slot);
        }),
      );
    }
  }

  #hasFreeSlot(nowMs: number): boolean {
    for (const slot of this.#slots) {
      const leftMs = slot.endsAtMs - nowMs;
      // More than a query may take: the clock was set back.
      if (leftMs <= 0 || leftMs > this.#rules.maxSlotMs) this.#slots.delete(slot);
    }
    return this.#slots.size < this.#rules.maxQueries;
  }

  /** A read that is late has timed out, or its request has been cancelled by the runtime. */
  #dropLate(nowMs: number): void {
    for (const read of this.#waiting) {
      const ageMs = nowMs - read.askedAtMs;
      if (ageMs >= 0 && ageMs < this.#rules.timeoutMs) return;
      this.#waiting.delete(read);
    }
  }
}
