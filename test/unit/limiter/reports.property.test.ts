/** Reports and alarms of a limiter over days of random requests, with outages of D1. */
import fc from "fast-check";
import { describe, it } from "vitest";
import { alarmDueAtMs, isDeletable } from "../../../src/worker/limiter/core/alarm.ts";
import { enterDay } from "../../../src/worker/limiter/core/decide.ts";
import { dayName, type LimiterState, NEW_LIMITER } from "../../../src/worker/limiter/core/limiter-state.ts";
import { acknowledge, pendingReport, usageDueAtMs } from "../../../src/worker/limiter/core/outbox.ts";
import { SimulatedLimiter } from "./simulated-limiter.ts";

const DAY = 86_400_000;
const MIDNIGHT = Date.UTC(2026, 10, 21);
const LIMITS = { perMinute: 1_000, perDay: 100_000 };

/** Reports and sets alarms as the Durable Object does. `isReachable` says when D1 accepts a report. */
class ReportingLimiter {
  readonly #limiter = new SimulatedLimiter();
  readonly #isReachable: (nowMs: number) => boolean;
  readonly reports: { readonly atMs: number; readonly days: readonly string[] }[] = [];
  readonly alarmsAtMs: number[] = [];
  readonly reported = new Map<string, number>();
  alarmAtMs: number | null = null;

  constructor(isReachable: (nowMs: number) => boolean) {
    this.#isReachable = isReachable;
  }

  get state(): LimiterState {
    return this.#limiter.state;
  }

  request(nowMs: number): void {
    this.#limiter.request(LIMITS, nowMs);
    this.#save(nowMs);
    if (this.#report(nowMs)) this.#save(nowMs);
  }

  /** Runs the alarms that are due until then. */
  advanceTo(untilMs: number): void {
    while (this.alarmAtMs !== null && this.alarmAtMs <= untilMs) {
      const nowMs = this.alarmAtMs;
      this.alarmsAtMs.push(nowMs);
      this.alarmAtMs = null;
      this.#limiter.state = { ...enterDay(this.state, nowMs), alarmAtMs: null };
      this.#report(nowMs);
      if (isDeletable(this.state, nowMs)) this.#limiter.state = NEW_LIMITER;
      else this.#save(nowMs);
    }
  }

  #save(nowMs: number): void {
    const dueAtMs = alarmDueAtMs({ ...this.state, savedAtMs: nowMs }, nowMs);
    const alarmAtMs = Math.min(this.alarmAtMs ?? dueAtMs, dueAtMs);
    if (alarmAtMs <= nowMs) throw new Error("the alarm is not in the future");
    this.alarmAtMs = alarmAtMs;
    this.#limiter.state = { ...this.state, savedAtMs: nowMs, alarmAtMs };
  }

  #report(nowMs: number): boolean {
    const report = pendingReport(this.state, nowMs);
    if (!report) return false;
    this.reports.push({ atMs: nowMs, days: report.days.map(({ day }) => day) });
    if (!this.#isReachable(nowMs)) return false;
    for (const { day, admitted } of report.days) this.reported.set(day, admitted);
    this.#limiter.state = acknowledge(this.state, report);
    return true;
  }
}

/** Requests of three days, many of them just after a midnight. */
const requestTimes = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 3 * DAY - 1 }),
      fc
        .record({ day: fc.nat(2), afterMs: fc.nat(1_200_000) })
        .map(({ day, afterMs }) => day * DAY + afterMs),
    ),
    { minLength: 1, maxLength: 40 },
  )
  .map((offsets) => offsets.map((offset) => MIDNIGHT + offset).sort((a, b) => a - b));

/** An outage of D1 of up to six hours. */
const outage = fc.record({ startMs: fc.nat(3 * DAY), lengthMs: fc.nat(6 * 3_600_000) });

describe("the reports of a limiter", () => {
  it("have the final usage of every day, none of it before the key's moment, and every alarm is ahead", ({
    expect,
  }) => {
    fc.assert(
      fc.property(requestTimes, outage, (times, { startMs, lengthMs }) => {
        const fromMs = MIDNIGHT + startMs;
        const limiter = new ReportingLimiter((nowMs) => nowMs < fromMs || nowMs >= fromMs + lengthMs);
        const admitted = new Map<string, number>();
        for (const atMs of times) {
          limiter.advanceTo(atMs);
          limiter.request(atMs);
          admitted.set(dayName(atMs), (admitted.get(dayName(atMs)) ?? 0) + 1);
        }
        const momentMs = usageDueAtMs(limiter.state) % DAY;
        limiter.advanceTo(MIDNIGHT + 9 * DAY);
        expect(limiter.reported).toEqual(admitted);
        expect(limiter.reports.filter(({ atMs, days }) => days.length > 0 && atMs % DAY < momentMs)).toEqual(
          [],
        );
        expect(limiter.state).toEqual(NEW_LIMITER);
      }),
      { numRuns: 300 },
    );
  });

  it("are at most two a day, and so are the alarms, while D1 is reachable", ({ expect }) => {
    fc.assert(
      fc.property(requestTimes, (times) => {
        const limiter = new ReportingLimiter(() => true);
        for (const atMs of times) {
          limiter.advanceTo(atMs);
          limiter.request(atMs);
        }
        limiter.advanceTo(MIDNIGHT + 9 * DAY);
        for (const day of [0, 1, 2, 3, 4]) {
          const isOnDay = (atMs: number) => Math.floor((atMs - MIDNIGHT) / DAY) === day;
          expect(limiter.reports.filter(({ atMs }) => isOnDay(atMs)).length).toBeLessThanOrEqual(2);
          expect(limiter.alarmsAtMs.filter(isOnDay).length).toBeLessThanOrEqual(2);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("come once a minute from the alarm while D1 cannot be reached", ({ expect }) => {
    const limiter = new ReportingLimiter((nowMs) => nowMs < MIDNIGHT + DAY);
    limiter.request(MIDNIGHT + DAY / 2);
    limiter.advanceTo(MIDNIGHT + DAY + DAY / 2);
    const hour = limiter.alarmsAtMs.filter((atMs) => Math.floor((atMs - MIDNIGHT - DAY) / 3_600_000) === 5);
    expect(hour).toHaveLength(60);
  });
});
