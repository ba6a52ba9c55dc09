/** The decision and the reservation, against the naive limiter and by what must hold of any life of a key. */
import fc from "fast-check";
import { describe, it } from "vitest";
import type { Limits } from "../../../src/worker/limiter/core/quota.ts";
import { rateLimitHeaders } from "../../../src/worker/limiter/core/rate-limit-headers.ts";
import { maxBlockSize } from "../../../src/worker/limiter/core/reservation.ts";
import { anyLife, type Event, evictedLife, limits, startMs, undisturbedLife } from "./arbitraries.ts";
import { NaiveLimiter } from "./naive-limiter.ts";
import { type Decided, SimulatedLimiter } from "./simulated-limiter.ts";

type Moment = {
  verdict: Decided;
  limits: Limits;
  nowMs: number;
  evictions: number;
  limiter: SimulatedLimiter;
};

/** Lives through the events and shows every request's moment to `onRequest`. */
function live(
  events: readonly Event[],
  first: Limits,
  atMs: number,
  onRequest: (moment: Moment) => void,
): void {
  const limiter = new SimulatedLimiter();
  let nowMs = atMs;
  let current = first;
  let evictions = 0;
  for (const event of events) {
    if (event.kind === "clock") nowMs = Math.max(0, nowMs + event.byMs);
    if (event.kind === "limits") current = event.limits;
    if (event.kind === "quiet") limiter.quiet();
    if (event.kind === "evict") {
      limiter.evict();
      evictions++;
    }
    for (let i = 0; event.kind === "requests" && i < event.count; i++) {
      onRequest({ verdict: limiter.request(current, nowMs), limits: current, nowMs, evictions, limiter });
      nowMs += event.gapMs;
    }
  }
}

describe("one request's decision", () => {
  it("is the naive limiter's, whatever the plan, the arrivals, the clock and the changes of limits", ({
    expect,
  }) => {
    fc.assert(
      fc.property(undisturbedLife, limits, startMs, (events, first, atMs) => {
        const naive = new NaiveLimiter();
        live(events, first, atMs, ({ verdict, limits, nowMs }) => {
          expect(verdict.kind).toBe(naive.request(limits, nowMs));
          if (verdict.kind === "banned") expect(verdict.ban.endsAtMs).toBe(naive.banEnd);
          const used = naive.used();
          expect(verdict.quota.minute.remaining).toBe(Math.max(0, limits.perMinute - used.minute));
          expect(verdict.quota.day.remaining).toBe(Math.max(0, limits.perDay - used.day));
        });
      }),
      { numRuns: 500 },
    );
  });

  it("never admits more than the limit in a window, evictions at any point included", ({ expect }) => {
    fc.assert(
      fc.property(anyLife, limits, startMs, (events, first, atMs) => {
        const admitted = new Map<string, number>();
        live(events, first, atMs, ({ verdict, limits }) => {
          if (verdict.kind !== "admitted") return;
          const { minute, day } = verdict.quota;
          expect(count(admitted, `minute to ${minute.endsAtMs}`)).toBeLessThanOrEqual(limits.perMinute);
          expect(count(admitted, `day to ${day.endsAtMs}`)).toBeLessThanOrEqual(limits.perDay);
        });
      }),
      { numRuns: 500 },
    );
  });

  it("shows a remaining that is never negative and falls by exactly one for each admitted request", ({
    expect,
  }) => {
    fc.assert(
      fc.property(anyLife, limits, startMs, (events, first, atMs) => {
        let before: Moment | undefined;
        live(events, first, atMs, (moment) => {
          for (const name of ["minute", "day"] as const) {
            const now = moment.verdict.quota[name];
            expect(now.remaining).toBeGreaterThanOrEqual(0);
            const last = before?.verdict.quota[name];
            const isComparable =
              last?.endsAtMs === now.endsAtMs &&
              before?.limits === moment.limits &&
              before.evictions === moment.evictions;
            if (last && isComparable) {
              expect(last.remaining - now.remaining).toBe(moment.verdict.kind === "admitted" ? 1 : 0);
            }
          }
          before = moment;
        });
      }),
      { numRuns: 500 },
    );
  });

  it("says to retry at the first whole second that gets in: at that second in, one second earlier out", ({
    expect,
  }) => {
    fc.assert(
      fc.property(anyLife, limits, startMs, (events, first, atMs) => {
        live(events, first, atMs, ({ verdict, limits, nowMs, limiter }) => {
          if (verdict.kind === "admitted") return;
          const headers = rateLimitHeaders(verdict);
          const waitMs = Number(headers["Retry-After"]) * 1000;
          const resetMs = Number(headers["X-RateLimit-Reset"]) * 1000;
          expect(limiter.wouldAnswer(limits, nowMs + waitMs)).toBe("admitted");
          if (waitMs > 1000) expect(limiter.wouldAnswer(limits, nowMs + waitMs - 1000)).not.toBe("admitted");
          expect(limiter.wouldAnswer(limits, resetMs)).toBe("admitted");
          expect(limiter.wouldAnswer(limits, resetMs - 1)).not.toBe("admitted");
        });
      }),
      { numRuns: 300 },
    );
  });
});

describe("a reservation", () => {
  it("costs a key at most itself for each eviction, and gains it nothing", ({ expect }) => {
    fc.assert(
      fc.property(evictedLife, limits, startMs, (events, limits, atMs) => {
        const admitted = new Map<string, number>();
        const evictionsBefore = new Map<string, number>();
        live(events, limits, atMs, ({ verdict, evictions }) => {
          for (const { name, endsAtMs, limit } of [verdict.quota.minute, verdict.quota.day]) {
            const window = `${name} to ${endsAtMs}`;
            if (!evictionsBefore.has(window)) evictionsBefore.set(window, evictions);
            const evictionsWithin = evictions - (evictionsBefore.get(window) ?? 0);
            const inWindow =
              verdict.kind === "admitted" ? count(admitted, window) : (admitted.get(window) ?? 0);
            const left = verdict.quota[name].remaining;
            expect(inWindow + left).toBeLessThanOrEqual(limit);
            expect(inWindow + left).toBeGreaterThanOrEqual(limit - evictionsWithin * maxBlockSize(limits));
          }
        });
      }),
      { numRuns: 500 },
    );
  });

  it("costs nothing where a quiet second came before the eviction", ({ expect }) => {
    fc.assert(
      fc.property(limits, startMs, fc.integer({ min: 1, max: 60 }), (limits, atMs, requests) => {
        const limiter = new SimulatedLimiter();
        for (let i = 0; i < requests; i++) limiter.request(limits, atMs);
        const { counts } = limiter.state;
        limiter.quiet();
        limiter.evict();
        expect(limiter.state.counts).toEqual(counts);
      }),
    );
  });

  it.for([
    { plan: "Free", perMinute: 60, perDay: 1000, mostSaves: 20 },
    { plan: "Pro", perMinute: 300, perDay: 10_000, mostSaves: 25 },
    { plan: "Business", perMinute: 1000, perDay: 100_000, mostSaves: 25 },
  ])("saves a burst of the whole minute of $plan at most $mostSaves times", (row, { expect }) => {
    const limiter = new SimulatedLimiter();
    for (let i = 0; i < row.perMinute; i++) limiter.request(row, 1_790_000_000_000);
    expect(limiter.savesOfCounts).toBeLessThanOrEqual(row.mostSaves);
    expect(limiter.savesOfCounts).toBeGreaterThan(5);
  });

  it("costs a client that sends every 15 s nothing over a day, although it is evicted in between", ({
    expect,
  }) => {
    const limiter = new SimulatedLimiter();
    const pro = { perMinute: 300, perDay: 10_000 };
    const midnight = Date.UTC(2026, 10, 21);
    for (let atMs = midnight; atMs < midnight + 86_400_000; atMs += 15_000) {
      limiter.evict();
      expect(limiter.request(pro, atMs).kind).toBe("admitted");
    }
    expect(limiter.state.counts.day.used).toBe(86_400 / 15);
    expect(limiter.savesOfCounts).toBe(86_400 / 15);
  });

  it("is one request for a client that pauses a second or more between requests", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    const limits = { perMinute: 1000, perDay: 100_000 };
    for (let i = 0; i < 50; i++) {
      limiter.request(limits, 1_790_000_000_000 + i * 1_000);
      expect(limiter.storedCounts).toEqual(limiter.state.counts);
    }
  });

  it("never takes all that is left: an eviction leaves a window that was not used up with room", ({
    expect,
  }) => {
    fc.assert(
      fc.property(limits, startMs, fc.nat(150), (limits, atMs, requests) => {
        const limiter = new SimulatedLimiter();
        for (let i = 0; i < requests; i++) limiter.request(limits, atMs);
        const before = limiter.wouldAnswer(limits, atMs);
        limiter.evict();
        expect(limiter.wouldAnswer(limits, atMs)).toBe(before);
      }),
      { numRuns: 500 },
    );
  });
});

describe("a record version", () => {
  it("below the highest that was seen is stale: nothing is counted, nothing changes", ({ expect }) => {
    fc.assert(
      fc.property(
        limits,
        startMs,
        fc.nat(1000),
        fc.integer({ min: 1, max: 1000 }),
        (limits, atMs, low, by) => {
          const limiter = new SimulatedLimiter();
          limiter.requestAt({ version: low + by, limits }, atMs);
          const { state } = limiter;
          expect(limiter.requestAt({ version: low, limits }, atMs)).toEqual({ kind: "stale" });
          expect(limiter.state).toBe(state);
        },
      ),
    );
  });
});

function count(counts: Map<string, number>, window: string): number {
  const next = (counts.get(window) ?? 0) + 1;
  counts.set(window, next);
  return next;
}
