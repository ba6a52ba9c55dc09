/** Simulated clients of one key: fleets of workers that each obey Retry-After, and a client that polls through 429s. */
import type { Limits } from "../../../src/worker/limiter/core/quota.ts";
import { rateLimitHeaders } from "../../../src/worker/limiter/core/rate-limit-headers.ts";
import { SimulatedLimiter } from "./simulated-limiter.ts";

/** 10:00:00 UTC. */
export const T0 = Date.UTC(2026, 10, 21, 10);
const HOUR_MS = 3_600_000;

/** The time between the arrival at the Worker and at the object. */
const LATENCY_MS = 20;

export type Fleet = {
  readonly workers: number;
  readonly meanGapMs: number;
  /** Gaps vary by ±50 %, and workers start at random. Otherwise all send at the same moments. */
  readonly isJittered: boolean;
};

/** Whether the key is ever banned in an hour, and how often it is refused. */
export function runFleet(limits: Limits, fleet: Fleet, seed: number): { isBanned: boolean; refused: number } {
  const random = seededRandom(seed);
  const limiter = new SimulatedLimiter();
  const nextAtMs = Array.from({ length: fleet.workers }, () =>
    fleet.isJittered ? T0 + random() * fleet.meanGapMs : T0,
  );
  let refused = 0;
  for (;;) {
    const { worker, atMs } = earliest(nextAtMs);
    if (atMs >= T0 + HOUR_MS) return { isBanned: false, refused };
    const verdict = limiter.request(limits, Math.ceil(atMs + LATENCY_MS), { sentAtMs: Math.ceil(atMs) });
    if (verdict.kind === "banned") return { isBanned: true, refused };
    const gapMs = fleet.isJittered ? fleet.meanGapMs * (0.5 + random()) : fleet.meanGapMs;
    const waitMs = Number(rateLimitHeaders(verdict)["Retry-After"] ?? 0) * 1_000;
    if (verdict.kind === "limited") refused++;
    nextAtMs[worker] = atMs + (waitMs > 0 ? waitMs + LATENCY_MS : gapMs);
  }
}

/** An index loop, as this runs for each request of an hour of each fleet. */
function earliest(nextAtMs: readonly number[]): { worker: number; atMs: number } {
  let worker = 0;
  let atMs = Number.POSITIVE_INFINITY;
  for (let i = 0; i < nextAtMs.length; i++) {
    const candidateMs = nextAtMs[i] ?? atMs;
    if (candidateMs < atMs) [worker, atMs] = [i, candidateMs];
  }
  return { worker, atMs };
}

/** How long after the first refusal a client that polls every `gapMs` is banned; undefined if it is not within an hour. */
export function secondsToBan(limits: Limits, gapMs: number): number | undefined {
  const limiter = new SimulatedLimiter();
  let firstRefusalAtMs: number | undefined;
  for (let atMs = T0; atMs < T0 + HOUR_MS; atMs += gapMs) {
    const { kind } = limiter.request(limits, atMs);
    if (kind !== "admitted") firstRefusalAtMs ??= atMs;
    if (kind === "banned") return (atMs - (firstRefusalAtMs ?? atMs)) / 1_000;
  }
  return undefined;
}

/** The same where other clients of the key have used up the minute's limit before each poll. */
export function secondsToBanInUsedMinute(limits: Limits, gapMs: number): number | undefined {
  const limiter = new SimulatedLimiter();
  for (let atMs = T0; atMs < T0 + HOUR_MS; atMs += gapMs) {
    while (limiter.wouldAnswer(limits, atMs) === "admitted") limiter.request(limits, atMs);
    if (limiter.request(limits, atMs).kind === "banned") return (atMs - T0) / 1_000;
  }
  return undefined;
}

/** A linear congruential generator, as in Numerical Recipes: repeatable, and good enough for gaps. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
