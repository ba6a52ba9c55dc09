/** What a limiter reports to D1, and when. */
import { describe, it } from "vitest";
import { enterDay } from "../../../src/worker/limiter/core/decide.ts";
import type { LimiterState } from "../../../src/worker/limiter/core/limiter-state.ts";
import {
  acknowledge,
  isEverythingReported,
  pendingReport,
  REPORT_SPREAD_MS,
  usageDueAtMs,
} from "../../../src/worker/limiter/core/outbox.ts";
import { operatorBan } from "./scenario.ts";
import { KEY_ID, SimulatedLimiter } from "./simulated-limiter.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const LIMITS = { perMinute: 10, perDay: 100 };
const MIDNIGHT = Date.UTC(2026, 10, 21);
const NOON = MIDNIGHT + 12 * HOUR;

/** A key that made that many requests at noon. */
function afterNoon(requests: number): LimiterState {
  const limiter = new SimulatedLimiter();
  for (let i = 0; i < requests; i++) limiter.request(LIMITS, NOON);
  return limiter.state;
}

/** The usage of every key is due. */
const pendingNow = (state: LimiterState) => pendingReport(state, state.counts.day.startMs + REPORT_SPREAD_MS);

function reported(state: LimiterState): LimiterState {
  const report = pendingNow(state);
  if (!report) throw new Error("nothing to report");
  return acknowledge(state, report);
}

describe("the outbox", () => {
  it("has a day's first usage, and nothing more until the day is over", ({ expect }) => {
    const state = afterNoon(3);
    expect(pendingNow(state)?.days).toEqual([
      { day: "2026-11-21", admitted: 3, refused: 0, refusedWhileBanned: 0, hours: [[12, 3, 0, 0]] },
    ]);
    expect(pendingNow(reported(state))).toBeUndefined();
  });

  it("has a day with as many refusals as requests that were admitted", ({ expect }) => {
    expect(pendingNow(afterNoon(20))?.days).toMatchObject([{ admitted: 10, refused: 10 }]);
  });

  it("has a day's final figures once it is over, refusals included", ({ expect }) => {
    const over = enterDay(reported(afterNoon(13)), MIDNIGHT + DAY);
    expect(pendingNow(over)?.days).toEqual([
      { day: "2026-11-21", admitted: 10, refused: 3, refusedWhileBanned: 0, hours: [[12, 10, 3, 0]] },
    ]);
  });

  it("has a day's first usage although the day before was reported on that same day", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    limiter.state = reported(enterDay(reported(afterNoon(1)), MIDNIGHT + DAY));
    limiter.request(LIMITS, NOON + DAY);
    expect(pendingNow(limiter.state)?.days).toMatchObject([{ day: "2026-11-22", admitted: 1 }]);
  });

  it("keeps what was added while a report was being sent", ({ expect }) => {
    const state = afterNoon(1);
    const report = pendingNow(state);
    if (!report) throw new Error("nothing to report");
    const dayAfter = acknowledge(enterDay(state, MIDNIGHT + DAY), report);
    expect(pendingNow(dayAfter)?.days).toMatchObject([{ day: "2026-11-21", admitted: 1 }]);
    const unreportedBans = [operatorBan(NOON, HOUR)];
    expect(acknowledge({ ...state, unreportedBans }, report).unreportedBans).toEqual(unreportedBans);
  });

  it("has the new day's usage, although the day before was acknowledged after midnight", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    limiter.request(LIMITS, NOON);
    const report = pendingNow(limiter.state);
    if (!report) throw new Error("nothing to report");
    limiter.request(LIMITS, NOON + DAY);
    limiter.state = acknowledge(limiter.state, report);
    expect(pendingNow(limiter.state)?.days).toMatchObject([{ day: "2026-11-21" }, { day: "2026-11-22" }]);
  });

  it("has every day that is not reported, oldest first, each with its own figures", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    const ban = { operatorBan: operatorBan(NOON, HOUR) };
    for (let i = 0; i < 12; i++) limiter.request(LIMITS, NOON);
    limiter.request(LIMITS, NOON, ban);
    limiter.request(LIMITS, NOON + DAY);
    limiter.request(LIMITS, NOON + DAY, { operatorBan: operatorBan(NOON + DAY, HOUR) });
    expect(limiter.state.keyId).toBe(KEY_ID);
    const days = [
      { day: "2026-11-21", admitted: 10, refused: 2, refusedWhileBanned: 1, hours: [[12, 10, 2, 1]] },
      { day: "2026-11-22", admitted: 1, refused: 0, refusedWhileBanned: 1, hours: [[12, 1, 0, 1]] },
    ];
    const midnight = MIDNIGHT + DAY;
    expect(pendingNow(limiter.state)).toEqual({ days, bans: [], currentDayStartMs: midnight });
    const over = enterDay(limiter.state, midnight + DAY);
    expect(pendingNow(over)).toEqual({ days, bans: [], currentDayStartMs: null });
  });

  it("has a day on which every request was refused by a ban, and no day without requests", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    limiter.request(LIMITS, NOON, { operatorBan: operatorBan(NOON, HOUR) });
    const idle = enterDay(enterDay(limiter.state, MIDNIGHT + DAY), MIDNIGHT + 2 * DAY);
    expect(pendingNow(idle)?.days).toEqual([
      { day: "2026-11-21", admitted: 0, refused: 0, refusedWhileBanned: 1, hours: [[12, 0, 0, 1]] },
    ]);
  });

  it("has every ban for strikes that is not reported", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    for (let i = 0; i < 800; i++) limiter.request({ perMinute: 1, perDay: 100 }, NOON + i * 1000);
    expect(pendingNow(limiter.state)?.bans).toMatchObject([
      { id: `ban_${KEY_ID}_${NOON + 21_000}`, startedAtMs: NOON + 21_000 },
      { startedAtMs: expect.any(Number) },
    ]);
  });

  it("has a ban for strikes", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    for (let i = 0; i < 40; i++) limiter.request({ perMinute: 1, perDay: 100 }, NOON + i * 1000);
    expect(pendingNow(limiter.state)?.bans).toMatchObject([{ cause: "strikes", strikes: 20 }]);
    expect(pendingNow(reported(limiter.state))).toBeUndefined();
  });
});

describe("before the key's moment of the day", () => {
  it("no usage is due, neither of the finished day nor of the first request, and it still pends", ({
    expect,
  }) => {
    const limiter = new SimulatedLimiter();
    for (let i = 0; i < 3; i++) limiter.request(LIMITS, NOON);
    limiter.state = reported(limiter.state);
    limiter.request(LIMITS, MIDNIGHT + DAY);
    const dueAtMs = usageDueAtMs(limiter.state);
    expect(dueAtMs).toBeGreaterThan(MIDNIGHT + DAY);
    expect(dueAtMs).toBeLessThan(MIDNIGHT + DAY + REPORT_SPREAD_MS);
    expect(pendingReport(limiter.state, dueAtMs - 1)).toBeUndefined();
    expect(isEverythingReported(limiter.state)).toBe(false);
    expect(pendingReport(limiter.state, dueAtMs)?.days).toMatchObject([
      { day: "2026-11-21", admitted: 3 },
      { day: "2026-11-22", admitted: 1 },
    ]);
  });

  it("a ban is due, without usage", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    for (let i = 0; i < 40; i++) limiter.request({ perMinute: 1, perDay: 100 }, MIDNIGHT + i * 1000);
    const nowMs = usageDueAtMs(limiter.state) - 1;
    const report = pendingReport(limiter.state, nowMs);
    expect(report).toMatchObject({ days: [], bans: [{ strikes: 20 }], currentDayStartMs: null });
    if (!report) return;
    const state = acknowledge(limiter.state, report);
    expect(pendingReport(state, nowMs)).toBeUndefined();
    expect(pendingReport(state, nowMs + 1)?.days).toMatchObject([{ day: "2026-11-21" }]);
  });

  it("a report of bans that is acknowledged late does not undo a report of usage", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    for (let i = 0; i < 40; i++) limiter.request({ perMinute: 1, perDay: 100 }, MIDNIGHT + i * 1000);
    const early = pendingReport(limiter.state, usageDueAtMs(limiter.state) - 1);
    if (!early) throw new Error("nothing to report");
    expect(isEverythingReported(acknowledge(reported(limiter.state), early))).toBe(true);
  });
});
