/** The pure core of a limiter joined as its object joins it, with storage, eviction and the clock in the test's hands. */
import { type Call, decide, type Verdict } from "../../../src/worker/limiter/core/decide.ts";
import { type LimiterState, NEW_LIMITER } from "../../../src/worker/limiter/core/limiter-state.ts";
import type { Counts, Limits } from "../../../src/worker/limiter/core/quota.ts";
import { reservationOf, reserve } from "../../../src/worker/limiter/core/reservation.ts";

export type Decided = Exclude<Verdict, { kind: "stale" }>;

export const KEY_ID = "key_simulated";

export class SimulatedLimiter {
  state: LimiterState = NEW_LIMITER;
  savesOfCounts = 0;
  #reservation = reservationOf(NEW_LIMITER.counts);
  #stored = JSON.stringify(NEW_LIMITER);

  request(limits: Limits, nowMs: number): Decided {
    const verdict = this.requestAt({ version: 1, limits }, nowMs);
    if (verdict.kind === "stale") throw new Error("every request of a simulation brings the same version");
    return verdict;
  }

  requestAt(call: Call, nowMs: number): Verdict {
    const { verdict, state } = decide(this.state, KEY_ID, call, nowMs);
    this.state = state;
    if (verdict.kind !== "admitted") {
      // The object saves refusals later or never: the worst for the client's counts is the same either way.
      if (verdict.kind === "banned") this.quiet();
      return verdict;
    }
    const paid = reserve(this.#reservation, state.counts, call.limits, nowMs);
    if (paid.saved !== this.#reservation.saved) {
      this.savesOfCounts++;
      this.#stored = JSON.stringify({ ...state, counts: paid.saved });
    }
    this.#reservation = paid;
    return verdict;
  }

  /** What happens after a second without requests. */
  quiet(): void {
    this.#stored = JSON.stringify(this.state);
    this.#reservation = { ...this.#reservation, saved: this.state.counts };
  }

  /** Memory is gone; what was stored is all there is. */
  evict(): void {
    this.state = JSON.parse(this.#stored) as LimiterState; // written by this class only
    this.#reservation = reservationOf(this.state.counts);
  }

  get storedCounts(): Counts {
    return (JSON.parse(this.#stored) as LimiterState).counts; // written by this class only
  }

  /** What a request would be answered, without making it. */
  wouldAnswer(limits: Limits, nowMs: number): Decided["kind"] {
    const { verdict } = decide(this.state, KEY_ID, { version: 1, limits }, nowMs);
    if (verdict.kind === "stale") throw new Error("every request of a simulation brings the same version");
    return verdict.kind;
  }
}
