/** What a limiter reports to D1, and when. */
import { describe, it } from "vitest";
import { enterDay } from "../../../src/worker/limiter/core/decide.ts";
import type { LimiterState } from "../../../src/worker/limiter/core/limiter-state.ts";
import { acknowledge, pendingReport } from "../../../src/worker/limiter/core/outbox.ts";
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

function reported(state: LimiterState): LimiterState {
  const report = pendingReport(state);
  if (!report) throw new Error("nothing to report");
  return acknowledge(state, report);
}

describe("the outbox", () => {
  it("has a day's first usage, and nothing more until the day is over", ({ expect }) => {
    const state = afterNoon(3);
    expect(pendingReport(state)?.days).toEqual([
      { day: "2026-11-21", admitted: 3, refused: 0, refusedWhileBanned: 0 },
    ]);
    expect(pendingReport(reported(state))).toBeUndefined();
  });

  it("has a day with as many refusals as requests that were admitted", ({ expect }) => {
    expect(pendingReport(afterNoon(20))?.days).toMatchObject([{ admitted: 10, refused: 10 }]);
  });

  it("has a day's final figures once it is over, refusals included", ({ expect }) => {
    const over = enterDay(reported(afterNoon(13)), MIDNIGHT + DAY);
    expect(pendingReport(over)?.days).toEqual([
      { day: "2026-11-21", admitted: 10, refused: 3, refusedWhileBanned: 0 },
    ]);
  });

  it("has a day's first usage although the day before was reported on that same day", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    limiter.state = reported(enterDay(reported(afterNoon(1)), MIDNIGHT + DAY));
    limiter.request(LIMITS, NOON + DAY);
    expect(pendingReport(limiter.state)?.days).toMatchObject([{ day: "2026-11-22", admitted: 1 }]);
  });

  it("keeps what was added while a report was being sent", ({ expect }) => {
    const state = afterNoon(1);
    const report = pendingReport(state);
    if (!report) throw new Error("nothing to report");
    const dayAfter = acknowledge(enterDay(state, MIDNIGHT + DAY), report);
    expect(pendingReport(dayAfter)?.days).toMatchObject([{ day: "2026-11-21", admitted: 1 }]);
    const unreportedBans = [operatorBan(NOON, HOUR)];
    expect(acknowledge({ ...state, unreportedBans }, report).unreportedBans).toEqual(unreportedBans);
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
      { day: "2026-11-21", admitted: 10, refused: 2, refusedWhileBanned: 1 },
      { day: "2026-11-22", admitted: 1, refused: 0, refusedWhileBanned: 1 },
    ];
    const midnight = MIDNIGHT + DAY;
    expect(pendingReport(limiter.state)).toEqual({ days, bans: [], reportedDayStartMs: midnight });
    const over = enterDay(limiter.state, midnight + DAY);
    expect(pendingReport(over)).toEqual({ days, bans: [], reportedDayStartMs: null });
  });

  it("has a day on which every request was refused by a ban, and no day without requests", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    limiter.request(LIMITS, NOON, { operatorBan: operatorBan(NOON, HOUR) });
    const idle = enterDay(enterDay(limiter.state, MIDNIGHT + DAY), MIDNIGHT + 2 * DAY);
    expect(pendingReport(idle)?.days).toEqual([
      { day: "2026-11-21", admitted: 0, refused: 0, refusedWhileBanned: 1 },
    ]);
  });

  it("has every ban for strikes that is not reported", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    for (let i = 0; i < 800; i++) limiter.request({ perMinute: 1, perDay: 100 }, NOON + i * 1000);
    expect(pendingReport(limiter.state)?.bans).toMatchObject([
      { id: `ban_${KEY_ID}_${NOON + 21_000}`, startedAtMs: NOON + 21_000 },
      { startedAtMs: expect.any(Number) },
    ]);
  });

  it("has a ban for strikes", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    for (let i = 0; i < 40; i++) limiter.request({ perMinute: 1, perDay: 100 }, NOON + i * 1000);
    expect(pendingReport(limiter.state)?.bans).toMatchObject([{ cause: "strikes", strikes: 20 }]);
    expect(pendingReport(reported(limiter.state))).toBeUndefined();
  });
});
