/**
 * Concurrent requests share a load and its failure. The load is I/O of the request that began the load. The
 * other requests look at intervals whether the load is done.
 *
 * A request must not await a promise that another request settles. In code that V8 has optimised, a promise
 * loses its mark of the request that it belongs to. The waiting request then goes on as part of the other
 * request, and its I/O is cancelled when the other request ends. So requests share plain data only.
 */
import { TimeoutError, withDeadline } from "./with-timeout.ts";

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

/** A load beside another begins this much later, or a share of a load's time later. */
const MIN_PACE_MS = 10;
/** Longer than any distance on Earth takes. */
const SLOW_MS = 200;
const ROOM_A_LOAD = 0.1;

export class SingleFlight<T> {
  /** The latest load in flight. */
  #flight: Flight<T> | undefined;
  #inFlight: readonly Flight<T>[] = [];
  readonly #timeoutMs: number;
  readonly #maxInFlight: number;
  #fastestMs = Number.POSITIVE_INFINITY;
  #room: number;

  /** `maxInFlight`: how many loads `runAfterCall` may have in flight, unless they are slow. */
  constructor(timeoutMs: number, maxInFlight = 1) {
    this.#timeoutMs = timeoutMs;
    this.#maxInFlight = maxInFlight;
    this.#room = Math.min(2, maxInFlight); // whether D1 is slow is not known yet
  }

  get isIdle(): boolean {
    return this.#current() === undefined;
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

  /**
   * Like `run`, but takes the value of a load that began before this call only if the value `isEnough`. Does
   * not wait for the end of that load if another may begin beside it.
   */
  async runAfterCall(
    load: Load<T>,
    waitUntil: WaitUntil,
    isEnough: (value: T) => boolean = () => false,
  ): Promise<T> {
    const earlier = this.#current();
    if (!earlier) return this.#begin(load, waitUntil);
    const mayBegin = () => this.#hasRoom() && Date.now() - earlier.startedAtMs >= this.#paceMs();
    await this.#wait(earlier, this.#paceMs(), () => earlier.next !== undefined || mayBegin());
    if (earlier.outcome || !(earlier.next || mayBegin())) {
      const value = await this.#join(earlier);
      if (isEnough(value)) return value;
    }
    // The first caller that needs a newer value begins the next load. The others find that load here, even if
    // it is done. A load that is later than `earlier` began after this call.
    const latest = this.#current();
    if (latest !== earlier) earlier.next ??= latest;
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

  /**
   * Slow loads wait in a queue, which more loads at once would only make longer. A slow load ends all others
   * beside it, and each fast one makes room for a part of one. bench/fleet.ts shows what that does to D1.
   */
  #hasRoom(): boolean {
    this.#inFlight = this.#inFlight.filter((flight) => !flight.outcome && this.#leftMs(flight) > 0);
    const [oldest] = this.#inFlight;
    const isSlow = oldest !== undefined && this.#isSlow(Date.now() - oldest.startedAtMs);
    return this.#inFlight.length < (isSlow ? 1 : Math.floor(this.#room));
  }

  /** An isolate that starts during an overload has seen no fast load, so a fixed time is slow, too. */
  #isSlow(tookMs: number): boolean {
    return tookMs > Math.min(1.25 * this.#fastestMs + 5, SLOW_MS);
  }

  #paceMs(): number {
    if (this.#maxInFlight === 1) return Number.POSITIVE_INFINITY;
    const isKnown = Number.isFinite(this.#fastestMs);
    return isKnown ? Math.max(MIN_PACE_MS, this.#fastestMs / Math.floor(this.#room)) : MIN_PACE_MS;
  }

  async #begin(load: Load<T>, waitUntil: WaitUntil, earlier?: Flight<T>): Promise<T> {
    const flight: Flight<T> = { startedAtMs: Date.now(), outcome: undefined, next: undefined };
    if (earlier) earlier.next = flight;
    this.#flight = flight;
    this.#inFlight = [...this.#inFlight, flight];
    const result = load();
    waitUntil(
      Promise.allSettled([result]).then(([outcome]) => {
        flight.outcome = outcome;
        const tookMs = Math.max(0, Date.now() - flight.startedAtMs);
        if (outcome.status === "fulfilled") this.#fastestMs = Math.min(this.#fastestMs, tookMs);
        this.#room = this.#isSlow(tookMs) ? 1 : Math.min(this.#maxInFlight, this.#room + ROOM_A_LOAD);
        this.#end(flight);
      }),
    );
    try {
      return await withDeadline(result, this.#timeoutMs);
    } catch (thrown) {
      this.#end(flight);
      throw thrown;
    }
  }

  async #join(flight: Flight<T>): Promise<T> {
    await this.#wait(flight, this.#fastestMs);
    if (flight.outcome?.status === "fulfilled") return flight.outcome.value;
    if (flight.outcome) throw flight.outcome.reason;
    this.#end(flight);
    throw new TimeoutError(`no result within ${this.#timeoutMs} ms`);
  }

  /** Looks for the first time when the load has this age: it is hardly done earlier. */
  async #wait(flight: Flight<T>, firstAgeMs: number, isOver = () => false): Promise<void> {
    const leftMs = this.#leftMs(flight);
    const firstMs = Number.isFinite(firstAgeMs) ? Math.ceil(flight.startedAtMs + firstAgeMs - Date.now()) : 0;
    await poll(() => flight.outcome !== undefined || isOver(), leftMs, Math.min(firstMs, leftMs));
  }

  /** Returns 0 for a load that began in the future: the clock was set back since. */
  #leftMs({ startedAtMs }: Flight<T>): number {
    const ageMs = Date.now() - startedAtMs;
    return ageMs < 0 ? 0 : this.#timeoutMs - ageMs;
  }

  #end(flight: Flight<T>): void {
    if (this.#flight === flight) this.#flight = undefined;
    this.#inFlight = this.#inFlight.filter((each) => each !== flight);
  }
}

/**
 * Looks until `isDone`, or until the time is over, for the first time after `firstMs`. Waits at most a third
 * longer than necessary. A wait of 20 ms takes 9 timers, each of some 20 µs of CPU.
 */
export async function poll(isDone: () => boolean, timeoutMs: number, firstMs = 0): Promise<void> {
  // The loop adds up the timers' intervals, because a clock may be set back.
  let waitedMs = 0;
  for (let looks = 0; !isDone() && waitedMs < timeoutMs; looks++) {
    const nextMs = looks === 0 ? firstMs : Math.ceil((waitedMs - Math.max(0, firstMs)) / 3);
    const intervalMs = Math.min(Math.max(1, nextMs), MAX_INTERVAL_MS, timeoutMs - waitedMs);
    await new Promise<void>((resolve) => setTimeout(resolve, intervalMs));
    waitedMs += intervalMs;
  }
}
