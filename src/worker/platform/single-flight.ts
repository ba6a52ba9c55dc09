/**
 * Concurrent requests share a load and its failure. The load is I/O of the request that began the load. The
 * other requests look at intervals whether the load is done.
 *
 * A request must not await a promise that another request settles. In code that V8 has optimised, a promise
 * loses its mark of the request that it belongs to. The waiting request then goes on as part of the other
 * request, and its I/O is cancelled when the other request ends. So requests share plain data only.
 */
import { TimeoutError, withTimeout } from "./with-timeout.ts";

/** The longest time between two looks. */
const MAX_INTERVAL_MS = 250;

type Flight<T> = {
  readonly startedAtMs: number;
  /** Undefined during the load. */
  outcome: PromiseSettledResult<T> | undefined;
  /** The next load, which all requests that joined this load share. */
  next: Flight<T> | undefined;
};

type Load<T> = () => Promise<T>;
type WaitUntil = (load: Promise<unknown>) => void;

export class SingleFlight<T> {
  #flight: Flight<T> | undefined;
  readonly #timeoutMs: number;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Returns the value of the load in flight, which may be older than this call, or of a new load. `waitUntil`
   * lets a load end after its client hung up. Rejects with the load's own error, or with a TimeoutError.
   * After a timeout the load is dropped, and the next request starts a new load.
   */
  run(load: Load<T>, waitUntil: WaitUntil): Promise<T> {
    const flight = this.#current();
    return flight ? this.#join(flight) : this.#begin(load, waitUntil);
  }

  /** Like `run`, but takes the value of a load that began before this call only if the value `isEnough`. */
  async runAfterCall(
    load: Load<T>,
    waitUntil: WaitUntil,
    isEnough: (value: T) => boolean = () => false,
  ): Promise<T> {
    const earlier = this.#current();
    if (!earlier) return this.#begin(load, waitUntil);
    const value = await this.#join(earlier);
    if (isEnough(value)) return value;
    // The first caller that needs a newer value begins the next load. The others find that load here, even if
    // it is done.
    earlier.next ??= this.#current();
    if (earlier.next && this.#canJoin(earlier.next)) return this.#join(earlier.next);
    return this.#begin(load, waitUntil, earlier);
  }

  /** A load can outlive its time if the runtime cancelled every request that waited for the load. */
  #current(): Flight<T> | undefined {
    return this.#flight && this.#canJoin(this.#flight) ? this.#flight : undefined;
  }

  #canJoin(flight: Flight<T>): boolean {
    return flight.outcome !== undefined || this.#leftMs(flight) > 0;
  }

  async #begin(load: Load<T>, waitUntil: WaitUntil, earlier?: Flight<T>): Promise<T> {
    const flight: Flight<T> = { startedAtMs: Date.now(), outcome: undefined, next: undefined };
    if (earlier) earlier.next = flight;
    this.#flight = flight;
    const result = load();
    waitUntil(
      Promise.allSettled([result]).then(([outcome]) => {
        flight.outcome = outcome;
        this.#end(flight);
      }),
    );
    try {
      return await withTimeout(result, this.#timeoutMs);
    } catch (thrown) {
      this.#end(flight);
      throw thrown;
    }
  }

  async #join(flight: Flight<T>): Promise<T> {
    await poll(() => flight.outcome !== undefined, this.#leftMs(flight));
    if (flight.outcome?.status === "fulfilled") return flight.outcome.value;
    if (flight.outcome) throw flight.outcome.reason;
    this.#end(flight);
    throw new TimeoutError(`no result within ${this.#timeoutMs} ms`);
  }

  /** Returns 0 for a load that began in the future: the clock was set back since. */
  #leftMs({ startedAtMs }: Flight<T>): number {
    const ageMs = Date.now() - startedAtMs;
    return ageMs < 0 ? 0 : this.#timeoutMs - ageMs;
  }

  #end(flight: Flight<T>): void {
    if (this.#flight === flight) this.#flight = undefined;
  }
}

/**
 * Looks until `isDone`, or until the time is over. Waits at most a third longer than necessary. A wait of
 * 20 ms takes 9 timers, each of some 20 µs of CPU.
 */
async function poll(isDone: () => boolean, timeoutMs: number): Promise<void> {
  // The loop adds up the timers' intervals, because a clock may be set back.
  for (let waitedMs = 0; !isDone() && waitedMs < timeoutMs; ) {
    const intervalMs = Math.min(Math.max(1, Math.ceil(waitedMs / 3)), MAX_INTERVAL_MS, timeoutMs - waitedMs);
    await new Promise<void>((resolve) => setTimeout(resolve, intervalMs));
    waitedMs += intervalMs;
  }
}
