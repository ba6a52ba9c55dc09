/**
 * Single-flight: concurrent requests for the same thing share one load, and its failure as well. The load is I/O of the request
 * that began it. The others look at intervals whether it is done (poll.ts).
 */
import { type Outcome, poll, unwrap } from "./poll.ts";
import { TimeoutError, withTimeout } from "./with-timeout.ts";

type Flight<T> = {
  readonly startedAtMs: number;
  outcome: Outcome<T>;
  /** The next load of the same thing, which the requests that joined this one share. */
  next: Flight<T> | undefined;
};

type Load<T> = () => Promise<T>;
type WaitUntil = (load: Promise<unknown>) => void;

export class SingleFlight<T> {
  readonly #flights = new Map<string, Flight<T>>();
  readonly #timeoutMs: number;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /**
   * The value of the load in flight, which may be older than this call, or of a new one. `waitUntil` lets a load end after the
   * client that began it hung up. Rejects with the load's own error, or with a TimeoutError. After a timeout the load is
   * dropped, and the next request starts a new one.
   */
  run(key: string, load: Load<T>, waitUntil: WaitUntil): Promise<T> {
    const flight = this.#current(key);
    return flight ? this.#join(key, flight) : this.#begin(key, load, waitUntil);
  }

  /** The same, but of a load that began before this call the value is taken only if it `isEnough`. */
  async runAfterCall(
    key: string,
    load: Load<T>,
    waitUntil: WaitUntil,
    isEnough: (value: T) => boolean = () => false,
  ): Promise<T> {
    const earlier = this.#current(key);
    if (!earlier) return this.#begin(key, load, waitUntil);
    const value = await this.#join(key, earlier);
    if (isEnough(value)) return value;
    // One of the callers that joined begins the next load. Later callers find it here, also if it is done.
    earlier.next ??= this.#current(key);
    if (earlier.next && this.#canJoin(earlier.next)) return this.#join(key, earlier.next);
    return this.#begin(key, load, waitUntil, earlier);
  }

  /** One past its time is left where the runtime cancelled every request that waited for it. */
  #current(key: string): Flight<T> | undefined {
    const flight = this.#flights.get(key);
    return flight && this.#canJoin(flight) ? flight : undefined;
  }

  #canJoin(flight: Flight<T>): boolean {
    return flight.outcome !== undefined || this.#leftMs(flight) > 0;
  }

  async #begin(key: string, load: Load<T>, waitUntil: WaitUntil, earlier?: Flight<T>): Promise<T> {
    const flight: Flight<T> = { startedAtMs: Date.now(), outcome: undefined, next: undefined };
    if (earlier) earlier.next = flight;
    this.#flights.set(key, flight);
    const result = load();
    waitUntil(
      Promise.allSettled([result]).then(([outcome]) => {
        flight.outcome = outcome;
        this.#end(key, flight);
      }),
    );
    try {
      return await withTimeout(result, this.#timeoutMs);
    } catch (thrown) {
      this.#end(key, flight);
      throw thrown;
    }
  }

  async #join(key: string, flight: Flight<T>): Promise<T> {
    await poll(() => flight.outcome !== undefined, this.#leftMs(flight));
    if (flight.outcome) return unwrap(flight.outcome);
    this.#end(key, flight);
    throw new TimeoutError(`no result within ${this.#timeoutMs} ms`);
  }

  /** 0 for one that began in the future: the clock was set back since. */
  #leftMs({ startedAtMs }: Flight<T>): number {
    const ageMs = Date.now() - startedAtMs;
    return ageMs < 0 ? 0 : this.#timeoutMs - ageMs;
  }

  #end(key: string, flight: Flight<T>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}
