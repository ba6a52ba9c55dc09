/**
 * Requests of one key that arrive together in an isolate share a call of the key's object. A request that comes
 * while no call is in flight calls at once. One that comes during a call opens a batch, lets the event loop
 * handle the requests that have arrived with it, and sends the batch.
 *
 * A request must not await a promise that another request settles: its own I/O could end with the other
 * request. So a batch is plain data, and those who have joined look at intervals whether it has an outcome.
 */
import { LimiterTimeoutError } from "./timeout.ts";

/** The object decides a batch in one step, in which nobody else is answered. */
const MAX_CALLS = 128;

/** How a request asks its object. */
export type Asking<Call, Answer> = {
  readonly one: (call: Call) => Promise<Answer>;
  /** Rejects with a TypeError or RangeError if nothing was decided, because each has to ask for itself. */
  readonly all: (calls: readonly Call[]) => Promise<readonly Answer[]>;
  readonly timeoutMs: number;
  /** Holds a request after its client has hung up: others may wait for the batch that the request sends. */
  readonly waitUntil: (answered: Promise<unknown>) => void;
};

type Batch<Call, Answer> = {
  readonly calls: Call[];
  readonly timeoutMs: number;
  isSent: boolean;
  outcome: PromiseSettledResult<readonly Answer[]> | undefined;
};

/** The batches of one object, from one isolate. */
export class Batches<Call, Answer> {
  #open: Batch<Call, Answer> | undefined;
  /** Without an answer for good if its request was cancelled: the next call takes its place. */
  #latestCall = { isAnswered: true };
  #fastestMs: number | undefined;

  async ask(call: Call, asking: Asking<Call, Answer>): Promise<Answer> {
    if (this.#latestCall.isAnswered) return this.#timed(asking.one(call));
    const answer = this.#askTogether(call, asking);
    // At once: a request whose client has hung up can hold nothing more, although it may run once more.
    asking.waitUntil(Promise.allSettled([answer]));
    try {
      return await answer;
    } catch (thrown) {
      if (!(thrown instanceof TypeError || thrown instanceof RangeError)) throw thrown;
      return asking.one(call);
    }
  }

  async #askTogether(call: Call, asking: Asking<Call, Answer>): Promise<Answer> {
    const { timeoutMs } = asking;
    const batch = this.#openBatch(timeoutMs);
    const place = batch.calls.push(call) - 1;
    // No call is answered earlier than the fastest.
    const firstMs = place === 0 ? 0 : Math.min(this.#fastestMs ?? 0, timeoutMs);
    await pause(firstMs);
    // The first sends the batch. If the first was cancelled before, another one does.
    if (!batch.isSent) await this.#send(batch, asking);
    for (let waitedMs = 0; batch.outcome === undefined && firstMs + waitedMs < timeoutMs; waitedMs++) {
      const nextMs = Math.floor(waitedMs / 3);
      await pause(nextMs);
      waitedMs += nextMs;
    }
    if (batch.outcome === undefined)
      throw new LimiterTimeoutError(`rate limiter: no answer within ${timeoutMs} ms`);
    if (batch.outcome.status === "rejected") throw batch.outcome.reason;
    const answer = batch.outcome.value[place];
    if (answer === undefined) throw new Error("rate limiter: a batch has fewer answers than calls");
    return answer;
  }

  #openBatch(timeoutMs: number): Batch<Call, Answer> {
    const open = this.#open;
    if (open && open.calls.length < MAX_CALLS && open.timeoutMs === timeoutMs) return open;
    this.#open = { calls: [], timeoutMs, isSent: false, outcome: undefined };
    return this.#open;
  }

  async #send(batch: Batch<Call, Answer>, { all }: Asking<Call, Answer>): Promise<void> {
    batch.isSent = true;
    if (this.#open === batch) this.#open = undefined;
    const [outcome] = await Promise.allSettled([this.#timed(all(batch.calls))]);
    batch.outcome = outcome;
  }

  async #timed<T>(call: Promise<T>): Promise<T> {
    const mine = { isAnswered: false };
    this.#latestCall = mine;
    const sentAtMs = Date.now();
    try {
      const answer = await call;
      const tookMs = Math.max(0, Date.now() - sentAtMs);
      this.#fastestMs = Math.min(this.#fastestMs ?? tookMs, tookMs);
      return answer;
    } finally {
      mine.isAnswered = true;
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
