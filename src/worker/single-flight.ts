/** Single-flight: concurrent requests for the same thing share one load, and its failure as well. */
import { withTimeout } from "./with-timeout.ts";

type Flight<T> = { readonly result: Promise<T>; readonly startedAtMs: number };

export type Shared<T> = {
  readonly value: T;
  /** Whether the load had begun before this request came: its value may be older than the request. */
  readonly isJoined: boolean;
};

export class SingleFlight<T> {
  readonly #flights = new Map<string, Flight<T>>();
  readonly #timeoutMs: number;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /**
   * The value of the load in flight, or of a new one. `waitUntil` lets a load end after the client that began it hung up.
   * Rejects with the load's own error, or with a TimeoutError. After a timeout the load is dropped, and the next request
   * starts a new one.
   */
  async run(
    key: string,
    load: () => Promise<T>,
    waitUntil: (load: Promise<unknown>) => void,
  ): Promise<Shared<T>> {
    const current = this.#flights.get(key);
    // One past its time is left where the runtime cancelled every request that waited for it.
    const joined = current && Date.now() < current.startedAtMs + this.#timeoutMs ? current : undefined;
    const flight = joined ?? this.#begin(key, load, waitUntil);
    try {
      const timeoutMs = Math.max(0, flight.startedAtMs + this.#timeoutMs - Date.now());
      return { value: await withTimeout(flight.result, timeoutMs), isJoined: joined !== undefined };
    } catch (thrown) {
      this.#end(key, flight);
      throw thrown;
    }
  }

  #begin(key: string, load: () => Promise<T>, waitUntil: (load: Promise<unknown>) => void): Flight<T> {
    const flight = { result: load(), startedAtMs: Date.now() };
    this.#flights.set(key, flight);
    const end = () => this.#end(key, flight);
    waitUntil(flight.result.then(end, end));
    return flight;
  }

  #end(key: string, flight: Flight<T>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}
