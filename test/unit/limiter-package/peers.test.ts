/**
 * What the tests of other limiters promise their users, tried on this one: how many requests pass. What they
 * promise beside that, such as refunds and resets, is in object.test.ts and middleware.test.ts.
 */
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { type Limit, perDay, perHour, perMinute, perMonth, RateLimiter } from "../../../src/limiter/index.ts";
import { counted, Platform } from "./platform.ts";

/** A Monday and the first of a month, so that every window begins. */
const START = Date.UTC(2027, 1, 1);

beforeEach(() => {
  vi.useFakeTimers({ now: START });
});
afterEach(() => {
  vi.useRealTimers();
});

const every = (seconds: number, requests: number): Limit => ({ name: `s${seconds}`, requests, seconds });

/** At this second so many requests, each of this cost: so many pass, and so much of each window remains. */
type Step = { at: number; ask: number; cost?: number; pass: number; left?: readonly number[] };

async function run(limits: readonly Limit[], steps: readonly Step[]): Promise<Step[]> {
  const platform = new Platform(RateLimiter);
  const seen: Step[] = [];
  for (const { at, ask, cost, left } of steps) {
    vi.setSystemTime(START + at * 1_000);
    const verdicts = [];
    for (let i = 0; i < ask; i++) verdicts.push(counted(await platform.object.admit({ limits, cost })));
    const pass = verdicts.filter(({ kind }) => kind === "admitted").length;
    const remaining = verdicts.at(-1)?.quota.map((window) => window.remaining) ?? [];
    seen.push({ at, ask, ...(cost && { cost }), pass, ...(left && { left: remaining }) });
  }
  return seen;
}

/** A load in each of so many windows: what fits passes. */
const windows = (count: number, seconds: number, ask: number, limit: number): Step[] =>
  Array.from({ length: count }, (_, i) => ({ at: i * seconds, ask, pass: Math.min(ask, limit) }));

describe("as the tests of others say", () => {
  it.for<[peer: string, promise: string, limits: Limit[], steps: Step[]]>([
    [
      "hono-rate-limiter",
      "refuses above the limit until the window ends, and then admits all of it again",
      [perMinute(2)],
      [
        { at: 0, ask: 3, pass: 2, left: [0] },
        { at: 59.999, ask: 1, pass: 0 },
        { at: 60, ask: 3, pass: 2 },
      ],
    ],
    [
      "express-rate-limit",
      "of several limiters each holds",
      [every(1, 2), perMinute(5), perHour(6), perDay(7)],
      [
        { at: 0, ask: 3, pass: 2, left: [0, 3, 4, 5] },
        { at: 1, ask: 3, pass: 2 },
        { at: 2, ask: 3, pass: 1, left: [1, 0, 1, 2] },
        { at: 60, ask: 3, pass: 1, left: [1, 4, 0, 1] },
        { at: 3_600, ask: 3, pass: 1, left: [1, 4, 5, 0] },
        { at: 86_400, ask: 3, pass: 2 },
      ],
    ],
    [
      "rate-limiter-flexible",
      "a union admits only what all of its limiters admit, and a refusal spends nothing",
      [perMinute(2), perHour(3)],
      [
        { at: 0, ask: 9, pass: 2, left: [0, 1] },
        { at: 60, ask: 9, pass: 1, left: [1, 0] },
        { at: 120, ask: 9, pass: 0, left: [2, 0] },
        { at: 3_600, ask: 9, pass: 2 },
      ],
    ],
    [
      "rate-limiter-flexible",
      "points that are more than what is left are refused, and fewer still pass",
      [perMinute(10)],
      [
        { at: 0, ask: 1, cost: 7, pass: 1, left: [3] },
        { at: 1, ask: 2, cost: 4, pass: 0, left: [3] },
        { at: 2, ask: 1, cost: 3, pass: 1, left: [0] },
      ],
    ],
    ["upstash, 0.8 of the limit", "all pass", [every(4, 16)], windows(12, 4, 13, 16)],
    ["upstash, 1.6 of the limit", "the limit passes", [every(4, 16)], windows(12, 4, 26, 16)],
    [
      "upstash, a rate of 3",
      "what is divided by the rate passes",
      [every(4, 16)],
      [
        { at: 0, ask: 9, cost: 3, pass: 5, left: [1] },
        { at: 4, ask: 9, cost: 3, pass: 5, left: [1] },
      ],
    ],
    [
      "unkey",
      "the 13th of 12 a minute spends nothing of 200 a month",
      [perMinute(12), perMonth(200)],
      [
        { at: 0, ask: 13, pass: 12, left: [0, 188] },
        { at: 28 * 86_400 - 1, ask: 1, pass: 1, left: [11, 187] },
        { at: 28 * 86_400, ask: 1, pass: 1, left: [11, 199] },
      ],
    ],
    [
      "unkey",
      "10 a day bind before 20 an hour, at a cost of 3",
      [perDay(10), perHour(20)],
      [{ at: 0, ask: 4, cost: 3, pass: 3, left: [1, 11] }],
    ],
    [
      "unkey, five replicas of 200 requests",
      "108 of a cost of 1,500 fit into 162,000",
      [perMinute(162_000)],
      [{ at: 0, ask: 1_000, cost: 1_500, pass: 108, left: [0] }],
    ],
    [
      "miniflare's binding",
      "a period ends at its second",
      [every(10, 1)],
      [
        { at: 0, ask: 2, pass: 1 },
        { at: 9.999, ask: 1, pass: 0 },
        { at: 10, ask: 2, pass: 1 },
      ],
    ],
    [
      "nestjs/throttler",
      "1 a second, 2 in 5 seconds and 5 a minute bind in turn",
      [every(1, 1), every(5, 2), perMinute(5)],
      [
        { at: 0, ask: 2, pass: 1 },
        { at: 1, ask: 2, pass: 1, left: [0, 0, 3] },
        { at: 2, ask: 1, pass: 0 },
        { at: 5, ask: 1, pass: 1 },
        { at: 6, ask: 1, pass: 1, left: [0, 0, 1] },
        { at: 10, ask: 1, pass: 1, left: [0, 1, 0] },
        { at: 11, ask: 1, pass: 0 },
        { at: 60, ask: 1, pass: 1 },
      ],
    ],
    [
      "envoy",
      "hits_addend counts several hits, or none",
      [perMinute(7)],
      [
        { at: 0, ask: 1, cost: 5, pass: 1 },
        { at: 1, ask: 1, cost: 3, pass: 0, left: [2] },
        { at: 2, ask: 1, cost: 2, pass: 1, left: [0] },
      ],
    ],
  ])("%s: %s", async ([, , limits, steps], { expect }) => {
    expect(await run(limits, steps)).toEqual(steps);
  });

  const accuracy = [5, 100].flatMap((limit) =>
    [1, 5].flatMap((seconds) => [0.9, 1, 10].map((load) => [limit, seconds, load] as const)),
  );
  it.for(accuracy)("unkey's accuracy, %d in %d s at a load of %d, is 1", async (row, { expect }) => {
    const [limit, seconds, load] = row;
    const steps = windows(10, seconds, Math.floor(limit * load), limit);
    expect(await run([every(seconds, limit)], steps)).toEqual(steps);
  });
});
