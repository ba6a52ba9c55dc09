/** When a limiter's alarm is due, and when its storage can be deleted. */
import crypto from "node:crypto";
import { describe, it } from "vitest";
import { alarmDueAtMs, isDeletable } from "../../../src/worker/limiter/core/alarm.ts";
import { enterDay } from "../../../src/worker/limiter/core/decide.ts";
import type { LimiterState } from "../../../src/worker/limiter/core/limiter-state.ts";
import {
  acknowledge,
  pendingReport,
  REPORT_SPREAD_MS,
  usageDueAtMs,
} from "../../../src/worker/limiter/core/outbox.ts";
import { SimulatedLimiter } from "./simulated-limiter.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MIDNIGHT = Date.UTC(2026, 10, 21);
const NOON = MIDNIGHT + 12 * HOUR;

/** A key whose one request at noon is reported. */
function reportedAtNoon(): LimiterState {
  const limiter = new SimulatedLimiter();
  limiter.request({ perMinute: 10, perDay: 100 }, NOON);
  return { ...reported(limiter.state, NOON), savedAtMs: NOON };
}

function reported(state: LimiterState, nowMs: number): LimiterState {
  const report = pendingReport(state, nowMs);
  return report ? acknowledge(state, report) : state;
}

/** The day after, when usage of every key is due. */
const SPREAD_OVER = MIDNIGHT + DAY + REPORT_SPREAD_MS;

const idle = reported(enterDay(reportedAtNoon(), MIDNIGHT + DAY), SPREAD_OVER);

describe("the alarm", () => {
  it("is due within 15 minutes of the end of a day with usage, at a fixed offset for each key", ({
    expect,
  }) => {
    const moments = ["key_a", "key_b", "key_c"].map((keyId) =>
      alarmDueAtMs({ ...reportedAtNoon(), keyId }, NOON),
    );
    for (const atMs of moments) {
      expect(atMs).toBeGreaterThanOrEqual(MIDNIGHT + DAY);
      expect(atMs).toBeLessThan(MIDNIGHT + DAY + 15 * MINUTE);
    }
    expect(new Set(moments).size).toBe(3);
  });

  it("of 1,500 keys comes in each of those 15 minutes for some 100 of them", ({ expect }) => {
    const perMinute = Array.from({ length: 15 }, () => 0);
    for (let i = 0; i < 1_500; i++) {
      const keyId = `key_${crypto.createHash("sha256").update(`${i}`).digest("hex").slice(0, 16)}`;
      const afterMidnightMs = alarmDueAtMs({ ...reportedAtNoon(), keyId }, NOON) - MIDNIGHT - DAY;
      const minute = Math.floor(afterMidnightMs / MINUTE);
      perMinute[minute] = (perMinute[minute] ?? 0) + 1;
    }
    expect(perMinute).toHaveLength(15);
    expect(Math.min(...perMinute)).toBeGreaterThan(65);
    expect(Math.max(...perMinute)).toBeLessThan(135);
  });

  it("is due at the key's moment while the finished day, or a first request after midnight, is not reported", ({
    expect,
  }) => {
    const over = enterDay(reportedAtNoon(), MIDNIGHT + DAY);
    const dueAtMs = usageDueAtMs(over);
    expect(alarmDueAtMs(reportedAtNoon(), NOON)).toBe(dueAtMs);
    expect(alarmDueAtMs(over, MIDNIGHT + DAY)).toBe(dueAtMs);
    const limiter = new SimulatedLimiter();
    limiter.request({ perMinute: 10, perDay: 100 }, MIDNIGHT + DAY);
    expect(alarmDueAtMs(limiter.state, MIDNIGHT + DAY)).toBe(dueAtMs);
    expect(alarmDueAtMs(limiter.state, dueAtMs)).toBe(dueAtMs + DAY);
  });

  it("is due after a minute when the finished day could not be reported", ({ expect }) => {
    const over = enterDay(reportedAtNoon(), MIDNIGHT + DAY);
    const dueAtMs = usageDueAtMs(over);
    expect(alarmDueAtMs(over, dueAtMs)).toBe(dueAtMs + MINUTE);
    expect(alarmDueAtMs(over, dueAtMs + HOUR)).toBe(dueAtMs + HOUR + MINUTE);
  });

  it("is due after a minute while a ban is not reported", ({ expect }) => {
    const ban = {
      id: "b",
      cause: "strikes",
      reason: null,
      strikes: 20,
      startedAtMs: NOON,
      endsAtMs: NOON,
    } as const;
    expect(alarmDueAtMs({ ...idle, unreportedBans: [ban] }, NOON)).toBe(NOON + MINUTE);
  });

  it("is never set for the present or the past", ({ expect }) => {
    expect(alarmDueAtMs(idle, MIDNIGHT + 9 * DAY)).toBe(MIDNIGHT + 9 * DAY + 1_000);
  });
});

describe("deleting", () => {
  const lastBan = {
    id: "b",
    cause: "strikes",
    reason: null,
    strikes: 20,
    startedAtMs: NOON,
    endsAtMs: NOON + 5 * HOUR,
    lengthMs: 5 * HOUR,
  } as const;

  it.for<{ key: string; state: LimiterState; fromMs: number }>([
    { key: "an idle key", state: idle, fromMs: NOON + DAY + 60_000 },
    {
      key: "a key whose next ban would double",
      state: { ...idle, penalty: { refusedWindow: null, lastBan } },
      fromMs: NOON + 5 * HOUR + DAY,
    },
  ])("$key is deleted once nothing is left to remember, and its alarm comes then", (row, { expect }) => {
    expect(isDeletable(row.state, row.fromMs - 1)).toBe(false);
    expect(isDeletable(row.state, row.fromMs)).toBe(true);
    expect(alarmDueAtMs(row.state, NOON)).toBe(row.fromMs);
  });

  it("waits for the acknowledgement of every report", ({ expect }) => {
    expect(isDeletable(enterDay(reportedAtNoon(), MIDNIGHT + DAY), NOON + 9 * DAY)).toBe(false);
  });
});
