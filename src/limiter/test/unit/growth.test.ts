/** How far the last report lags behind the day's count, and how many reports that costs, on the real object. */
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { type Policy, perDay, RateLimiter, type Report } from "../../index.ts";
import { Platform } from "./platform.ts";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;
const MIDNIGHT = Date.UTC(2026, 10, 21);

beforeEach(() => {
  vi.useFakeTimers({ now: MIDNIGHT });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A receiver that keeps the newest figures of each hour. */
class ReportedLimiter extends RateLimiter {
  static policy: Policy = { limits: [perDay(1_000_000)] };
  static hours = new Map<number, { admitted: number; refused: number }>();
  static reports = 0;
  static hears: (object: RateLimiter) => boolean;
  override async loadPolicy() {
    return ReportedLimiter.policy;
  }
  override async report({ hours }: Report) {
    if (!ReportedLimiter.hears(this)) return;
    ReportedLimiter.reports++;
    for (const hour of hours) ReportedLimiter.hours.set(hour.startMs, hour);
  }
}

const listed = (figure: "admitted" | "refused") =>
  [...ReportedLimiter.hours.values()].reduce((sum, hour) => sum + hour[figure], 0);

const start = (limit = 1_000_000) => {
  ReportedLimiter.policy = { limits: [perDay(limit)] };
  ReportedLimiter.hours.clear();
  ReportedLimiter.reports = 0;
  const platform = new Platform(ReportedLimiter);
  ReportedLimiter.hears = (object) => platform.isAlive(object);
  return platform;
};

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

let seed = 7;
const random = () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
  return seed / 2 ** 31;
};
const times = (count: number, at: (i: number) => number) =>
  Array.from({ length: count }, (_, i) => Math.floor(at(i))).sort((a, b) => a - b);

/** `reports` is what a simulation of the rule counted. In a burst, a list is further behind for some seconds. */
const KINDS: { kind: string; atMs: number[]; reports: number; isBurst?: boolean }[] = [
  { kind: "10 a day, at any time", atMs: times(10, () => random() * DAY), reports: 7 },
  { kind: "1,000 a day, evenly", atMs: times(1_000, (i) => (i / 1_000) * DAY), reports: 34 },
  { kind: "1,000 in a burst", atMs: times(1_000, (i) => 9.17 * HOUR + i * 60), reports: 10, isBurst: true },
  { kind: "10,000 in office hours", atMs: times(10_000, () => (8 + 9 * random()) * HOUR), reports: 35 },
  {
    kind: "40 at once in each hour",
    atMs: times(960, (i) => Math.floor(i / 40) * HOUR + 5_000 + (i % 40) * 50),
    reports: 27,
    isBurst: true,
  },
];

describe("a key's reports of a day", () => {
  it.for(KINDS)("are few, and never far behind: $kind", async ({ atMs, reports, isBurst }, { expect }) => {
    const { object } = start();
    const [firstMs = 0] = atMs;
    let worst = 0;
    for (const [i, each] of atMs.entries()) {
      const nextMs = atMs[i + 1] ?? DAY;
      await pass(MIDNIGHT + each - Date.now());
      await object.admit({});
      await pass(0);
      // An operator who looks just after the request, and just before the next.
      for (const lookMs of [each, nextMs - 1]) {
        await pass(Math.max(0, MIDNIGHT + lookMs - Date.now()));
        if (lookMs >= firstMs + 10 * SECOND) expect(listed("admitted")).toBeGreaterThan(0);
        const behind = i + 1 - listed("admitted");
        const isSettled = !isBurst || (lookMs > each && nextMs - each > 6 * SECOND);
        if (behind >= 5 && isSettled) worst = Math.max(worst, behind / (i + 1));
      }
    }
    expect(worst).toBeLessThanOrEqual(0.25);
    expect(Math.abs(ReportedLimiter.reports - reports)).toBeLessThanOrEqual(Math.max(1, 0.15 * reports));
    await pass(2 * HOUR);
    expect(listed("admitted")).toBe(atMs.length);
  });
});
