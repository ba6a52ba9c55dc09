/** `fetch` that waits for its turn, so that a client of a rate limit is not refused. */
import { type Flight, KnownLimits, type Turn } from "./known-limits.ts";

const DEFAULT_MAX_WAIT_MS = 600_000;
const DEFAULT_MAX_WAITING = 1_000;
const DEFAULT_MAX_REPEATS = 5;
/** JavaScript's timers overflow beyond, and fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export type LimitedFetchOptions = {
  /** How long a call may wait in all, from 0 on, before it is sent and before a repeat. The default is 600,000. */
  readonly maxWaitMs?: number | undefined;
  /** How many calls may wait at a time. The default is 1,000. */
  readonly maxWaiting?: number | undefined;
  /** How often a refused request is sent again. The default is 5; 0 for never. */
  readonly maxRepeats?: number | undefined;
  /** What sends. The default is the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** For tests. */
  readonly clock?: Clock | undefined;
};

export type Clock = {
  /** Milliseconds since 1970. Must not run back. */
  now(): number;
  /** Returns a function that ends the timer. */
  setTimer(call: () => void, ms: number): () => void;
};

/** The request was not sent. */
export class NotSentError extends Error {
  override readonly name = "NotSentError";
  /** `too_many_waiting` calls wait already, or the turn comes only after `maxWaitMs`. */
  readonly kind: "too_many_waiting" | "wait_too_long";
  /** In how many milliseconds the limit lets a request pass, as far as is known; null if that is not known. */
  readonly retryAfterMs: number | null;

  constructor(kind: NotSentError["kind"], retryAfterMs: number | null) {
    const wait =
      retryAfterMs === null ? "" : ` The limit is used up for ${Math.ceil(retryAfterMs / 1000)} s.`;
    super(
      kind === "too_many_waiting"
        ? `Not sent: as many requests as maxWaiting wait already.${wait}`
        : `Not sent: the request would have to wait longer than maxWaitMs.${wait}`,
    );
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

type Waiter = {
  readonly untilMs: number;
  readonly go: (flight: Flight) => void;
  readonly fail: (reason: unknown) => void;
};

/** `performance` does not jump when somebody sets the clock. */
const CLOCK: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  setTimer(call, ms) {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * Returns a `fetch` for the requests of one limit, as of one API key. Throws a RangeError for a wrong option.
 *
 * @example
 * const fetchOrders = limitedFetch({ maxWaitMs: 60_000 });
 * const answers = await Promise.all(urls.map((url) => fetchOrders(url)));
 */
export function limitedFetch(options: LimitedFetchOptions = {}): typeof fetch {
  const { maxWaitMs = DEFAULT_MAX_WAIT_MS, maxWaiting = DEFAULT_MAX_WAITING, clock = CLOCK } = options;
  const { maxRepeats = DEFAULT_MAX_REPEATS } = options;
  // Who replaces the global one later, as in tests, means this one, too.
  const send = async (...request: Parameters<typeof fetch>) => (options.fetch ?? fetch)(...request);
  if (!(maxWaitMs >= 0 && maxWaitMs <= MAX_TIMER_MS))
    throw new RangeError(`maxWaitMs must be from 0 to ${MAX_TIMER_MS}`);
  if (!(maxWaiting >= 0)) throw new RangeError("maxWaiting must be from 0 on");
  if (!(maxRepeats >= 0)) throw new RangeError("maxRepeats must be from 0 on");
  const limits = new KnownLimits();
  const queue = new Queue(limits, clock);

  async function limited(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    const untilMs = clock.now() + maxWaitMs;
    for (let repeats = 0; ; repeats++) {
      // A request that was refused keeps its place.
      const flight = await queue.turn(signal, untilMs, repeats === 0 ? maxWaiting : Number.POSITIVE_INFINITY);
      const response = await send(input, init).catch((error: unknown) => {
        limits.lose(flight);
        queue.move();
        throw error;
      });
      const againMs = limits.learn(flight, response, clock.now());
      queue.move();
      const isLast = againMs === undefined || againMs > untilMs || repeats >= maxRepeats;
      if (isLast || !canRepeat(input, init)) return response;
      await response.body?.cancel();
    }
  }
  return limited;
}

/** A refused request was not handled, so each method can be sent again, but not a stream: it is used up. */
function canRepeat(...[input, init]: Parameters<typeof fetch>): boolean {
  const body = init?.body ?? (input instanceof Request ? input.body : null);
  return !(body instanceof ReadableStream || Symbol.asyncIterator in Object(body));
}

/** Those who wait, in the order in which their time is up. */
class Queue {
  readonly #limits: KnownLimits;
  readonly #clock: Clock;
  readonly #waiting: Waiter[] = [];
  #endTimer: (() => void) | undefined;

  constructor(limits: KnownLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Resolves when the request must be sent, at once. */
  turn(signal: AbortSignal | null | undefined, untilMs: number, maxWaiting: number): Promise<Flight> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const abort = () => this.#remove(waiter, signal?.reason);
      const settle =
        <T>(how: (value: T) => void) =>
        (value: T) => {
          signal?.removeEventListener("abort", abort);
          how(value);
        };
      const waiter: Waiter = { untilMs, go: settle(resolve), fail: settle(reject) };
      signal?.addEventListener("abort", abort);
      const last = this.#waiting.findLastIndex((other) => other.untilMs <= untilMs);
      this.#waiting.splice(last + 1, 0, waiter);
      const turn = this.move();
      if (turn && this.#waiting.length > maxWaiting && this.#waiting.includes(waiter))
        this.#remove(waiter, this.#notSent("too_many_waiting", turn));
    });
  }

  /** Lets those go whose turn has come, and returns the next turn if others still wait. */
  move(): Turn | undefined {
    this.#endTimer?.();
    for (;;) {
      const [first] = this.#waiting;
      if (first === undefined) return undefined;
      const nowMs = this.#clock.now();
      const turn = this.#limits.nextTurn(nowMs);
      if (turn.atMs <= nowMs) {
        this.#waiting.shift();
        first.go(this.#limits.start(nowMs));
      } else if (first.untilMs <= nowMs || (turn.isSure && turn.atMs > first.untilMs)) {
        this.#waiting.shift();
        first.fail(this.#notSent("wait_too_long", turn));
      } else {
        const ms = Math.ceil(Math.min(turn.atMs, first.untilMs) - nowMs);
        this.#endTimer = this.#clock.setTimer(() => this.move(), ms);
        return turn;
      }
    }
  }

  #notSent(kind: NotSentError["kind"], { atMs, isSure }: Turn): NotSentError {
    return new NotSentError(kind, isSure ? atMs - this.#clock.now() : null);
  }

  #remove(waiter: Waiter, reason: unknown): void {
    this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
    waiter.fail(reason);
    this.move();
  }
}
