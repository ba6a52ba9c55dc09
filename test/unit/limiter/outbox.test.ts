/** What a limiter owes the history, when it wakes up, and when it may forget. */
import { describe, it } from "vitest";
import { NO_PENALTY } from "../../../src/worker/limiter/core/ban.ts";
import { enterDay } from "../../../src/worker/limiter/core/decide.ts";
import type { LimiterState } from "../../../src/worker/limiter/core/limiter-state.ts";
import {
  acknowledge,
  alarmDueAtMs,
  isForgettable,
  pendingReport,
} from "../../../src/worker/limiter/core/outbox.ts";
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

function told(state: LimiterState): LimiterState {
  const report = pendingReport(state);
  if (!report) throw new Error("nothing to tell");
  return acknowledge(state, report);
}

describe("the history", () => {
  it("hears of a day's first use, and of nothing more until the day is over", ({ expect }) => {
    const state = afterNoon(3);
    expect(pendingReport(state)?.days).toEqual([
      { day: "2026-11-21", admitted: 3, refused: 0, refusedWhileBanned: 0 },
    ]);
    expect(pendingReport(told(state))).toBeUndefined();
  });

  it("hears a day's final figures once it is over, refusals included", ({ expect }) => {
    const over = enterDay(told(afterNoon(13)), MIDNIGHT + DAY);
    expect(pendingReport(over)?.days).toEqual([
      { day: "2026-11-21", admitted: 10, refused: 3, refusedWhileBanned: 0 },
    ]);
  });

  it("hears of a day's first use although it was told of the day before on that same day", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    limiter.state = told(enterDay(told(afterNoon(1)), MIDNIGHT + DAY));
    limiter.request(LIMITS, NOON + DAY);
    expect(pendingReport(limiter.state)?.days).toMatchObject([{ day: "2026-11-22", admitted: 1 }]);
  });

  it("keeps hearing of what came up while it was being told", ({ expect }) => {
    const state = afterNoon(1);
    const report = pendingReport(state);
    if (!report) throw new Error("nothing to tell");
    const dayAfter = acknowledge(enterDay(state, MIDNIGHT + DAY), report);
    expect(pendingReport(dayAfter)?.days).toMatchObject([{ day: "2026-11-21", admitted: 1 }]);
  });

  it("hears of a ban that strikes caused", ({ expect }) => {
    const limiter = new SimulatedLimiter();
    for (let i = 0; i < 40; i++) limiter.request({ perMinute: 1, perDay: 100 }, NOON + i * 1000);
    expect(pendingReport(limiter.state)?.bans).toMatchObject([{ cause: "strikes", strikes: 20 }]);
    expect(pendingReport(told(limiter.state))).toBeUndefined();
  });
});

describe("the alarm", () => {
  it("comes within 15 minutes of the end of a day with use, at each key's own moment", ({ expect }) => {
    const moments = ["key_a", "key_b", "key_c"].map((id) => alarmDueAtMs(told(afterNoon(1)), id, NOON));
    for (const atMs of moments) {
      expect(atMs).toBeGreaterThanOrEqual(MIDNIGHT + DAY);
      expect(atMs).toBeLessThan(MIDNIGHT + DAY + 15 * MINUTE);
    }
    expect(new Set(moments).size).toBe(3);
  });

  it("comes after a minute while the history has a finished day to hear of", ({ expect }) => {
    const over = enterDay(afterNoon(1), MIDNIGHT + DAY);
    expect(alarmDueAtMs(over, KEY_ID, MIDNIGHT + DAY)).toBe(MIDNIGHT + DAY + MINUTE);
  });

  it("is never set for the present or the past", ({ expect }) => {
    const idle = told(enterDay(told(afterNoon(1)), MIDNIGHT + DAY));
    expect(alarmDueAtMs(idle, KEY_ID, MIDNIGHT + 9 * DAY)).toBe(MIDNIGHT + 9 * DAY + 1_000);
  });
});

describe("forgetting", () => {
  const idle = told(enterDay(told(afterNoon(1)), MIDNIGHT + DAY));
  const endsAtMs = NOON + 3 * DAY;
  const ban = { id: "b", cause: "operator", reason: null, strikes: 0, startedAtMs: NOON, endsAtMs } as const;
  const lastStrikeBan = { lengthMs: HOUR, endedAtMs: NOON + 5 * HOUR };

  it.for<{ key: string; state: LimiterState; fromMs: number }>([
    { key: "an idle key", state: idle, fromMs: NOON + DAY },
    {
      key: "a banned key",
      state: { ...idle, penalty: { ...NO_PENALTY, ban } },
      fromMs: NOON + 3 * DAY,
    },
    {
      key: "a key whose next ban would double",
      state: { ...idle, penalty: { ...NO_PENALTY, lastStrikeBan } },
      fromMs: NOON + 5 * HOUR + DAY,
    },
  ])("$key is forgotten once nothing is left to remember, and its alarm comes then", (row, { expect }) => {
    expect(isForgettable(row.state, row.fromMs - 1)).toBe(false);
    expect(isForgettable(row.state, row.fromMs)).toBe(true);
    expect(alarmDueAtMs(row.state, KEY_ID, NOON)).toBe(row.fromMs);
  });

  it("waits until the history has heard everything", ({ expect }) => {
    const untold = enterDay(afterNoon(1), MIDNIGHT + DAY);
    expect(isForgettable(untold, NOON + 9 * DAY)).toBe(false);
  });
});
