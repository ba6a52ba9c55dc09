/** Usage by hour, compared with lists of requests, over random requests, clock changes, crashes and midnights. */
import fc from "fast-check";
import { describe, it } from "vitest";
import { enterDay } from "../../../src/worker/limiter/core/decide.ts";
import type { HourFigures } from "../../../src/worker/limiter/core/hours.ts";
import {
  type DailyUsage,
  type LimiterState,
  NEW_LIMITER,
  usageOfDay,
} from "../../../src/worker/limiter/core/limiter-state.ts";
import type { Decided } from "../../../src/worker/limiter/core/rate-limit-headers.ts";
import { maxBlockSize } from "../../../src/worker/limiter/core/reservation.ts";
import {
  anyScenario,
  burstsAndCrashes,
  highLimits,
  limits,
  scenarioWithoutCrashes,
  startMs,
} from "./arbitraries.ts";
import { runScenario } from "./scenario.ts";
import { SimulatedLimiter } from "./simulated-limiter.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Every request with its time. A clock that ran backwards counts as the newest time so far. */
class RequestList {
  readonly #requests: { readonly atMs: number; readonly kind: Decided["kind"] }[] = [];
  #newestMs = 0;

  /** A ban that a refusal begins is the answer to a request that a window refused. */
  add(nowMs: number, { kind }: Decided, beganBan: boolean): void {
    this.#newestMs = Math.max(this.#newestMs, nowMs);
    this.#requests.push({ atMs: this.#newestMs, kind: beganBan ? "limited" : kind });
  }

  hoursOf(day: string): HourFigures[] {
    const figures = Array.from({ length: 24 }, (_, hour): HourFigures => {
      const fromMs = Date.parse(`${day}T00:00:00Z`) + hour * HOUR;
      const within = this.#requests.filter(({ atMs }) => atMs >= fromMs && atMs < fromMs + HOUR);
      const countOf = (kind: Decided["kind"]) => within.filter((request) => request.kind === kind).length;
      return [hour, countOf("admitted"), countOf("limited"), countOf("banned")];
    });
    return figures.filter(([, ...counts]) => counts.some((count) => count > 0));
  }
}

function daysOf(state: LimiterState): DailyUsage[] {
  const today = usageOfDay(state);
  return today ? [...state.finishedDays, today] : [...state.finishedDays];
}

function sumOfHours({ hours }: DailyUsage): Omit<DailyUsage, "day" | "hours"> {
  const sum = (i: 1 | 2 | 3) => (hours ?? []).reduce((total, figures) => total + figures[i], 0);
  return { admitted: sum(1), refused: sum(2), refusedWhileBanned: sum(3) };
}

const bans = (state: LimiterState) => state.unreportedBans.length;

describe("the hours of a day", () => {
  it("are those of a list of all requests, for any requests, clock, operator changes and restores", ({
    expect,
  }) => {
    fc.assert(
      fc.property(scenarioWithoutCrashes, limits, startMs, (events, first, atMs) => {
        const list = new RequestList();
        let last = NEW_LIMITER;
        runScenario(events, first, atMs, ({ verdict, nowMs, limiter }) => {
          list.add(nowMs, verdict, bans(limiter.state) > bans(last));
          last = limiter.state;
        });
        for (const { day, hours } of daysOf(last)) expect(hours).toEqual(list.hoursOf(day));
      }),
      { numRuns: 250 },
    );
  });

  it("add up to the day's figures and are in order, with crashes at any point and any clock", ({
    expect,
  }) => {
    fc.assert(
      fc.property(anyScenario, fc.oneof(limits, highLimits), startMs, (events, first, atMs) => {
        runScenario(events, first, atMs, ({ limiter }) => {
          for (const usage of daysOf(limiter.state)) {
            expect(usage).toMatchObject(sumOfHours(usage));
            const hours = usage.hours?.map(([hour]) => hour) ?? [];
            expect(hours).toEqual([...new Set(hours)].sort((a, b) => a - b));
            expect(hours.every((hour) => hour >= 0 && hour < 24)).toBe(true);
            expect(usage.hours?.flat().every((figure) => figure >= 0)).toBe(true);
          }
        });
      }),
      { numRuns: 100 },
    );
  });

  it("have at most a reservation more than was admitted for each crash, and never less", ({ expect }) => {
    fc.assert(
      fc.property(burstsAndCrashes, highLimits, startMs, (events, limits, atMs) => {
        const list = new RequestList();
        let last = NEW_LIMITER;
        let lastCrashes = 0;
        runScenario(events, limits, atMs, ({ verdict, nowMs, limiter, crashes }) => {
          list.add(nowMs, verdict, false);
          last = limiter.state;
          lastCrashes = crashes;
        });
        let excess = 0;
        for (const { day, hours } of daysOf(last)) {
          const counted = new Map(hours?.map(([hour, admitted]) => [hour, admitted]));
          for (const [hour, admitted] of list.hoursOf(day)) {
            expect(counted.get(hour) ?? 0).toBeGreaterThanOrEqual(admitted);
            excess += (counted.get(hour) ?? 0) - admitted;
          }
        }
        expect(excess).toBeLessThanOrEqual(lastCrashes * (maxBlockSize(limits) - 1));
      }),
      { numRuns: 60 },
    );
  });
});

const MIDNIGHT = Date.UTC(2026, 10, 21);
const LIMITS = { perMinute: 1_000, perDay: 100_000 };

function used(requests: number, atMs: number, limiter = new SimulatedLimiter()): SimulatedLimiter {
  for (let i = 0; i < requests; i++) limiter.request(LIMITS, atMs);
  return limiter;
}

describe("the hour", () => {
  it("of what a crash made of a reservation is the hour of the reservation", ({ expect }) => {
    const limiter = used(30, MIDNIGHT + 10.99 * HOUR);
    const reserved = limiter.storedCounts.day.used;
    expect(reserved).toBeGreaterThan(30);
    limiter.crash();
    used(2, MIDNIGHT + 11 * HOUR, limiter);
    expect(usageOfDay(limiter.state)?.hours).toEqual([
      [10, reserved, 0, 0],
      [11, 2, 0, 0],
    ]);
  });

  it("does not go back with the clock", ({ expect }) => {
    const limiter = used(3, MIDNIGHT + 11 * HOUR);
    used(4, MIDNIGHT + 10.5 * HOUR, limiter);
    expect(usageOfDay(limiter.state)?.hours).toEqual([[11, 7, 0, 0]]);
  });

  it("of all that was counted before hours were is the last one that was counted in", ({ expect }) => {
    const { endedHours: _, ...stored } = used(5, MIDNIGHT + 9 * HOUR).state;
    const limiter = new SimulatedLimiter();
    limiter.state = { ...NEW_LIMITER, ...stored };
    used(1, MIDNIGHT + 12 * HOUR, limiter);
    expect(usageOfDay(limiter.state)?.hours).toEqual([
      [9, 5, 0, 0],
      [12, 1, 0, 0],
    ]);
  });

  it("that is over stays with its finished day across midnight, and the next day begins without hours", ({
    expect,
  }) => {
    const limiter = used(1, MIDNIGHT);
    used(2, MIDNIGHT + DAY - 1, limiter);
    const over = enterDay(limiter.state, MIDNIGHT + DAY);
    expect(over.finishedDays).toMatchObject([
      {
        day: "2026-11-21",
        admitted: 3,
        hours: [
          [0, 1, 0, 0],
          [23, 2, 0, 0],
        ],
      },
    ]);
    expect(over.endedHours).toEqual([]);
  });

  it("adds at most 1 KB to the stored state, with 24 hours of the highest figures", ({ expect }) => {
    const perHour = 30_000 * 60;
    const limiter = used(1, MIDNIGHT);
    for (let hour = 1; hour < 24; hour++) {
      const { day } = limiter.state.counts;
      const counts = { ...limiter.state.counts, day: { ...day, used: hour * perHour } };
      const refused = hour * perHour;
      limiter.state = { ...limiter.state, counts, refused, refusedWhileBanned: refused };
      used(1, MIDNIGHT + hour * HOUR, limiter);
    }
    expect(limiter.state.endedHours).toHaveLength(23);
    expect(JSON.stringify(limiter.state.endedHours).length).toBeLessThan(1_000);
  });
});
