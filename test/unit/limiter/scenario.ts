/** Runs random events against a simulated limiter, and keeps the key's record as D1 would. */
import { type BanOverride, NO_OVERRIDE } from "../../../src/worker/limiter/core/ban.ts";
import type { Limits } from "../../../src/worker/limiter/core/quota.ts";
import type { Decided } from "../../../src/worker/limiter/core/rate-limit-headers.ts";
import type { Event } from "./arbitraries.ts";
import { callOf, SimulatedLimiter } from "./simulated-limiter.ts";

export type Step = {
  readonly verdict: Decided;
  readonly limits: Limits;
  readonly override: BanOverride;
  readonly version: number;
  readonly nowMs: number;
  readonly crashes: number;
  /** Changes of the limits so far. */
  readonly changes: number;
  readonly limiter: SimulatedLimiter;
};

/** Passes the step of every request to `onRequest`. */
export function runScenario(
  events: readonly Event[],
  first: Limits,
  atMs: number,
  onRequest: (step: Step) => void,
): void {
  const limiter = new SimulatedLimiter();
  let nowMs = atMs;
  let limits = first;
  let override = NO_OVERRIDE;
  let version = 10;
  let crashes = 0;
  let changes = 0;

  const request = (): Decided => {
    const verdict = limiter.call(callOf(limits, nowMs, { version, ...override }), nowMs);
    if (verdict.kind !== "stale") return verdict;
    const insteadOfVersion = verdict.requiredVersion;
    const second = limiter.call(callOf(limits, nowMs, { version, ...override, insteadOfVersion }), nowMs);
    if (second.kind === "stale") throw new Error("a restored record must be accepted");
    return second;
  };

  for (const event of events) {
    switch (event.kind) {
      case "clock":
        nowMs = Math.max(0, nowMs + event.byMs);
        break;
      case "limits":
        limits = event.limits;
        changes++;
        version++;
        break;
      case "operatorBan":
        override = { ...override, operatorBan: operatorBan(nowMs, event.lengthMs) };
        version++;
        break;
      case "lift": {
        const lastBanId = limiter.state.penalty.lastBan?.id ?? null;
        override = {
          operatorBan: null,
          liftedBanId: lastBanId,
          forgivenBanId: event.forgive ? lastBanId : override.forgivenBanId,
        };
        version++;
        break;
      }
      case "restore":
        version = Math.max(1, version - 3);
        break;
      case "crash":
        limiter.crash();
        crashes++;
        break;
      case "flush":
        limiter.flush();
        break;
      case "requests":
        for (let i = 0; i < event.count; i++) {
          const verdict = request();
          onRequest({ verdict, limits, override, version, nowMs, crashes, changes, limiter });
          nowMs += event.gapMs;
        }
    }
  }
}

export function operatorBan(startedAtMs: number, lengthMs: number) {
  const endsAtMs = Math.ceil((startedAtMs + lengthMs) / 1_000) * 1_000;
  return {
    id: `ban_${startedAtMs}`,
    cause: "operator" as const,
    reason: "test",
    strikes: 0,
    startedAtMs,
    endsAtMs,
  };
}
