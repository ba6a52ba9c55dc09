/** A limiter made of the pure core, as the Durable Object is, whose storage, crashes and clock the test controls. */
import { type BanOverride, NO_OVERRIDE } from "../../../src/worker/limiter/core/ban.ts";
import { type Call, decide, type Verdict } from "../../../src/worker/limiter/core/decide.ts";
import { type LimiterState, NEW_LIMITER } from "../../../src/worker/limiter/core/limiter-state.ts";
import type { Counts, Limits } from "../../../src/worker/limiter/core/quota.ts";
import type { Decided } from "../../../src/worker/limiter/core/rate-limit-headers.ts";
import { reservationOf, reserve } from "../../../src/worker/limiter/core/reservation.ts";

export const KEY_ID = "key_simulated";

type Details = Partial<BanOverride & Pick<Call, "version" | "insteadOfVersion" | "sentAtMs">>;

export function callOf(limits: Limits, nowMs: number, details: Details = {}): Call {
  return { keyId: KEY_ID, version: 1, limits, ...NO_OVERRIDE, sentAtMs: nowMs, ...details };
}

export class SimulatedLimiter {
  state: LimiterState = NEW_LIMITER;
  savesOfCounts = 0;
  #reservation = reservationOf(NEW_LIMITER.counts);
  #stored = JSON.stringify(NEW_LIMITER);

  /** A request whose record is never stale. */
  request(limits: Limits, nowMs: number, details: Details = {}): Decided {
    return decided(this.call(callOf(limits, nowMs, details), nowMs));
  }

  call(call: Call, nowMs: number): Verdict {
    const before = this.state;
    const { verdict, state } = decide(before, call, nowMs);
    this.state = state;
    if (verdict.kind === "stale") return verdict;
    if (verdict.kind !== "admitted") {
      if (state.penalty.lastBan !== before.penalty.lastBan) this.flush();
      return verdict;
    }
    const reservation = reserve(this.#reservation, state.counts, call.limits, nowMs);
    if (reservation.stored !== this.#reservation.stored) {
      this.savesOfCounts++;
      this.#stored = JSON.stringify({ ...state, counts: reservation.stored });
    }
    this.#reservation = reservation;
    return verdict;
  }

  /** The idle flush. */
  flush(): void {
    this.#stored = JSON.stringify(this.state);
    this.#reservation = { ...this.#reservation, stored: this.state.counts };
  }

  /** Loses what is not stored. */
  crash(): void {
    this.state = JSON.parse(this.#stored) as LimiterState; // written by this class only
    this.#reservation = reservationOf(this.state.counts);
  }

  get storedCounts(): Counts {
    return (JSON.parse(this.#stored) as LimiterState).counts; // written by this class only
  }

  /** The verdict on a request, without making it. */
  wouldAnswer(limits: Limits, nowMs: number, details: Details = {}): Decided["kind"] {
    const { verdict } = decide(this.state, callOf(limits, nowMs, details), nowMs);
    return decided(verdict).kind;
  }
}

function decided(verdict: Verdict): Decided {
  if (verdict.kind === "stale") throw new Error("this simulation's record is never stale");
  return verdict;
}
