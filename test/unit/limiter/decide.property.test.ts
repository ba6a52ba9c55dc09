/** Properties of the decision and of the reservation, and a comparison with the naive limiter. */
import fc from "fast-check";
import { describe, it } from "vitest";
import type { Limits } from "../../../src/worker/limiter/core/quota.ts";
import { rateLimitHeaders } from "../../../src/worker/limiter/core/rate-limit-headers.ts";
import { maxBlockSize } from "../../../src/worker/limiter/core/reservation.ts";
import {
  anyScenario,
  burstsAndChanges,
  burstsAndCrashes,
  highLimits,
  limits,
  scenarioWithoutCrashes,
  startMs,
} from "./arbitraries.ts";
import { NaiveLimiter } from "./naive-limiter.ts";
import { runScenario, type Step } from "./scenario.ts";
import { callOf, SimulatedLimiter } from "./simulated-limiter.ts";

const T0 = 1_790_000_000_000;

describe("a decision", () => {
  it("is the same as the naive limiter's, for any limits, requests, clock, operator changes and restores", ({
    expect,
  }) => {
    fc.assert(
      fc.property(scenarioWithoutCrashes, limits, startMs, (events, first, atMs) => {
        const naive = new NaiveLimiter();
        runScenario(events, first, atMs, ({ verdict, limits, override, nowMs }) => {
          expect(verdict.kind).toBe(naive.request(limits, nowMs, override));
          if (verdict.kind === "banned") {
            expect(verdict.ban.endsAtMs).toBe(Math.max(naive.banEnd, override.operatorBan?.endsAtMs ?? 0));
          }
          const used = naive.used();
          expect(verdict.quota.minute.remaining).toBe(Math.max(0, limits.perMinute - used.minute));
          expect(verdict.quota.day.remaining).toBe(Math.max(0, limits.perDay - used.day));
        });
      }),
      { numRuns: 250 },
    );
  });

  it("never admits more than the limit in a window, with crashes at any point", ({ expect }) => {
    fc.assert(
      fc.property(anyScenario, limits, startMs, (events, first, atMs) => {
        const admitted = new Map<string, number>();
        runScenario(events, first, atMs, ({ verdict, limits }) => {
          if (verdict.kind !== "admitted") return;
          const { minute, day } = verdict.quota;
          expect(count(admitted, `minute to ${minute.endsAtMs}`)).toBeLessThanOrEqual(limits.perMinute);
          expect(count(admitted, `day to ${day.endsAtMs}`)).toBeLessThanOrEqual(limits.perDay);
        });
      }),
      { numRuns: 250 },
    );
  });

  it("has a remaining count that is never negative and falls by one with each admitted request", ({
    expect,
  }) => {
    fc.assert(
      fc.property(anyScenario, limits, startMs, (events, first, atMs) => {
        let before: Step | undefined;
        runScenario(events, first, atMs, (step) => {
          for (const name of ["minute", "day"] as const) {
            const now = step.verdict.quota[name];
            expect(now.remaining).toBeGreaterThanOrEqual(0);
            const last = before?.verdict.quota[name];
            const isComparable =
              last?.endsAtMs === now.endsAtMs &&
              before?.limits === step.limits &&
              before.crashes === step.crashes;
            if (last && isComparable) {
              expect(last.remaining - now.remaining).toBe(step.verdict.kind === "admitted" ? 1 : 0);
            }
          }
          before = step;
        });
      }),
      { numRuns: 250 },
    );
  });

  it("has a Retry-After that is exact: admitted at that second, refused one second earlier", ({ expect }) => {
    fc.assert(
      fc.property(anyScenario, limits, startMs, (events, first, atMs) => {
        runScenario(events, first, atMs, ({ verdict, limits, override, version, nowMs, limiter }) => {
          if (verdict.kind === "admitted") return;
          const wouldAnswer = (atMs: number) => limiter.wouldAnswer(limits, atMs, { version, ...override });
          const headers = rateLimitHeaders(verdict);
          const waitMs = Number(headers["Retry-After"]) * 1000;
          const resetMs = Number(headers["X-RateLimit-Reset"]) * 1000;
          expect(wouldAnswer(nowMs + waitMs)).toBe("admitted");
          if (waitMs > 1000) expect(wouldAnswer(nowMs + waitMs - 1000)).not.toBe("admitted");
          expect(wouldAnswer(resetMs)).toBe("admitted");
          expect(wouldAnswer(resetMs - 1)).not.toBe("admitted");
        });
      }),
      { numRuns: 300 },
    );
  });
});

/** Which of that many requests at one moment save the counts; the first one is number 1. */
function savedRequests(limiter: SimulatedLimiter, limits: Limits, requests: number, atMs = T0): number[] {
  const saved: number[] = [];
  for (let i = 1; i <= requests; i++) {
    const before = limiter.savesOfCounts;
    limiter.request(limits, atMs);
    if (limiter.savesOfCounts > before) saved.push(i);
  }
  return saved;
}

describe("a reservation", () => {
  it("loses at most its block minus one request at each crash, and never admits an extra one", ({
    expect,
  }) => {
    fc.assert(
      fc.property(burstsAndCrashes, fc.oneof(limits, highLimits), startMs, (events, limits, atMs) => {
        const admitted = new Map<string, number>();
        const crashesBefore = new Map<string, number>();
        runScenario(events, limits, atMs, ({ verdict, crashes }) => {
          for (const { name, endsAtMs, limit } of [verdict.quota.minute, verdict.quota.day]) {
            const window = `${name} to ${endsAtMs}`;
            if (!crashesBefore.has(window)) crashesBefore.set(window, crashes);
            const crashesWithin = crashes - (crashesBefore.get(window) ?? 0);
            const inWindow =
              verdict.kind === "admitted" ? count(admitted, window) : (admitted.get(window) ?? 0);
            const left = verdict.quota[name].remaining;
            expect(inWindow + left).toBeLessThanOrEqual(limit);
            expect(inWindow + left).toBeGreaterThanOrEqual(
              limit - crashesWithin * (maxBlockSize(limits) - 1),
            );
          }
        });
      }),
      { numRuns: 30 },
    );
  });

  it("follows a lowered limit at once: a crash loses less than a block of the new limit", ({ expect }) => {
    fc.assert(
      fc.property(burstsAndChanges, highLimits, startMs, (events, first, atMs) => {
        runScenario(events, first, atMs, ({ verdict, limits, limiter }) => {
          if (verdict.kind !== "admitted") return;
          const { minute, day } = limiter.state.counts;
          const left = Math.min(limits.perMinute - minute.used, limits.perDay - day.used);
          const reserved = limiter.storedCounts.minute.used - minute.used;
          expect(reserved).toBeGreaterThanOrEqual(0);
          expect(reserved).toBeLessThan(maxBlockSize(limits));
          expect(reserved).toBeLessThanOrEqual(Math.max(0, Math.floor(left / 2) - 1));
        });
      }),
      { numRuns: 60 },
    );
  });

  it("covers at most 199 requests as soon as a limit is lowered from 10,000 to 2,000 in a burst", ({
    expect,
  }) => {
    const limiter = new SimulatedLimiter();
    const high = { perMinute: 10_000, perDay: 100_000 };
    const low = { perMinute: 2_000, perDay: 100_000 };
    for (let i = 0; i < 1_100; i++) limiter.request(high, T0);
    limiter.request(low, T0, { version: 2 });
    const used = limiter.state.counts.minute.used;
    limiter.crash();
    expect(limiter.state.counts.minute.used - used).toBeLessThan(200);
  });

  it.for([
    { perMinute: 630, saved: [] },
    { perMinute: 629, saved: [1] },
  ])("of 63 more requests is kept or not under a limit lowered to $perMinute", (row, { expect }) => {
    const limiter = new SimulatedLimiter();
    savedRequests(limiter, { perMinute: 1_000, perDay: 100_000 }, 66);
    const low = { perMinute: row.perMinute, perDay: 100_000 };
    expect(savedRequests(limiter, low, 1)).toEqual(row.saved);
  });

  it.for([
    { perMinute: 1, block: 1 },
    { perMinute: 60, block: 1 },
    { perMinute: 299, block: 1 },
    { perMinute: 300, block: 30 },
    { perMinute: 1_000, block: 100 },
    { perMinute: 1_009, block: 100 },
  ])(
    "covers at most $block requests for a limit of $perMinute a minute",
    ({ perMinute, block }, { expect }) => {
      expect(maxBlockSize({ perMinute, perDay: 1_000_000 })).toBe(block);
    },
  );

  it("loses nothing at any crash for a limit below 300 a minute", ({ expect }) => {
    fc.assert(
      fc.property(limits, startMs, fc.integer({ min: 1, max: 60 }), (limits, atMs, requests) => {
        const limiter = new SimulatedLimiter();
        for (let i = 0; i < requests; i++) {
          limiter.request(limits, atMs);
          const { counts } = limiter.state;
          limiter.crash();
          expect(limiter.state.counts).toEqual(counts);
        }
      }),
    );
  });

  it("loses nothing if an idle flush came before the crash", ({ expect }) => {
    fc.assert(
      fc.property(highLimits, startMs, fc.integer({ min: 1, max: 600 }), (limits, atMs, requests) => {
        const limiter = new SimulatedLimiter();
        for (let i = 0; i < requests; i++) limiter.request(limits, atMs);
        const { counts } = limiter.state;
        limiter.flush();
        limiter.crash();
        expect(limiter.state.counts).toEqual(counts);
      }),
    );
  });

  it("begins with the fourth write of a burst, doubles with each, and begins anew after a pause", ({
    expect,
  }) => {
    const limiter = new SimulatedLimiter();
    const business = { perMinute: 1_000, perDay: 100_000 };
    expect(savedRequests(limiter, business, 33)).toEqual([1, 2, 3, 4, 6, 10, 18]);
    expect(savedRequests(limiter, business, 33, T0 + 999)).toEqual([1, 33]);
    limiter.request(business, T0 + 1_000);
    limiter.flush();
    for (let i = 1; i <= 3; i++) {
      limiter.request(business, T0 + 2_000);
      expect(limiter.storedCounts).toEqual(limiter.state.counts);
    }
    limiter.request(business, T0 + 2_000);
    expect(limiter.storedCounts).not.toEqual(limiter.state.counts);
  });

  it("costs a burst of 1 to 20 requests the rows and seconds in memory of ADR-8", ({ expect }) => {
    const costs = Array.from({ length: 20 }, (_, i) => {
      const limiter = new SimulatedLimiter();
      for (let sent = 0; sent <= i; sent++) limiter.request({ perMinute: 1_000, perDay: 100_000 }, T0);
      const isReserved = limiter.storedCounts.minute.used > limiter.state.counts.minute.used;
      // The idle flush, if anything is reserved at the burst's end.
      return `${limiter.savesOfCounts + Number(isReserved)} ${isReserved ? "1s" : "0s"}`;
    });
    expect(costs.slice(0, 5)).toEqual(["1 0s", "2 0s", "3 0s", "5 1s", "4 0s"]);
    expect(costs.slice(5, 10)).toEqual(["6 1s", "6 1s", "6 1s", "5 0s", "7 1s"]);
    expect(costs.slice(10, 15)).toEqual(["7 1s", "7 1s", "7 1s", "7 1s", "7 1s"]);
    expect(costs.slice(15)).toEqual(["7 1s", "6 0s", "8 1s", "8 1s", "8 1s"]);
  });

  it("covers at most half of what is left, of the day as of the minute", ({ expect }) => {
    const limits = { perMinute: 320, perDay: 20 };
    const saved = [1, 2, 3, 4, 6, 10, 15, 17, 18, 19, 20];
    expect(savedRequests(new SimulatedLimiter(), limits, 20)).toEqual(saved);

    const limiter = new SimulatedLimiter();
    for (let i = 0; i < 300; i++) limiter.request({ perMinute: 300, perDay: 10_000 }, T0);
    limiter.flush();
    const minute = savedRequests(limiter, { perMinute: 320, perDay: 10_000 }, 20, T0 + 1_000);
    expect(minute).toEqual(saved);
  });

  it.for([
    { plan: "Pro", perMinute: 300, perDay: 10_000, maxSaves: 25 },
    { plan: "Business", perMinute: 1000, perDay: 100_000, maxSaves: 26 },
  ])("saves a burst of the whole minute of $plan at most $maxSaves times", (row, { expect }) => {
    const limiter = new SimulatedLimiter();
    for (let i = 0; i < row.perMinute; i++) limiter.request(row, 1_790_000_000_000);
    expect(limiter.savesOfCounts).toBeLessThanOrEqual(row.maxSaves);
    expect(limiter.savesOfCounts).toBeGreaterThan(5);
  });

  it("loses nothing in a day of requests every 15 s with an eviction after each", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    const pro = { perMinute: 300, perDay: 10_000 };
    const midnight = Date.UTC(2026, 10, 21);
    for (let atMs = midnight; atMs < midnight + 86_400_000; atMs += 15_000) {
      limiter.crash();
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

  it("never takes all that is left: a crash exhausts no window", ({ expect }) => {
    fc.assert(
      fc.property(highLimits, startMs, fc.nat(2_100), (limits, atMs, requests) => {
        const limiter = new SimulatedLimiter();
        for (let i = 0; i < requests; i++) limiter.request(limits, atMs);
        const before = limiter.wouldAnswer(limits, atMs);
        limiter.crash();
        expect(limiter.wouldAnswer(limits, atMs)).toBe(before);
      }),
      { numRuns: 250 },
    );
  });
});

describe("a record version", () => {
  const LIMITS = { perMinute: 10, perDay: 100 };

  it("below the required one is stale, and changes no state", ({ expect }) => {
    fc.assert(
      fc.property(
        limits,
        startMs,
        fc.nat(1000),
        fc.integer({ min: 1, max: 1000 }),
        (limits, atMs, low, by) => {
          const limiter = new SimulatedLimiter();
          limiter.request(limits, atMs, { version: low + by });
          const { state } = limiter;
          const verdict = limiter.call(callOf(limits, atMs, { version: low }), atMs);
          expect(verdict).toEqual({ kind: "stale", requiredVersion: low + by });
          expect(limiter.state).toBe(state);
        },
      ),
    );
  });

  it("of a restored database is accepted instead of the required one", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    limiter.request(LIMITS, T0, { version: 9 });
    const restored = { version: 4, insteadOfVersion: 9 };
    expect(limiter.request(LIMITS, T0, restored).kind).toBe("admitted");
    expect(limiter.state.minVersion).toBe(4);
    expect(limiter.request(LIMITS, T0, { version: 4 }).kind).toBe("admitted");
  });

  it("of a restored database is stale after a later change", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    limiter.request(LIMITS, T0, { version: 10 });
    const call = callOf(LIMITS, T0, { version: 4, insteadOfVersion: 9 });
    expect(limiter.call(call, T0)).toEqual({ kind: "stale", requiredVersion: 10 });
  });
});

function count(counts: Map<string, number>, window: string): number {
  const next = (counts.get(window) ?? 0) + 1;
  counts.set(window, next);
  return next;
}
