/**
 * The real KeyLimiter on a fake disk and a fake D1, over days: alarms that come late, reports that fail, that are slow, and whose
 * answers are lost. It must decide as the naive limiter does, which never forgets, and D1 must have every request in the end.
 */
import fc from "fast-check";
import { afterEach, beforeEach, describe, type ExpectStatic, it, vi } from "vitest";
import { NO_OVERRIDE } from "../../../src/worker/limiter/core/ban.ts";
import { dayName } from "../../../src/worker/limiter/core/limiter-state.ts";
import { KeyLimiter } from "../../../src/worker/limiter/key-limiter.ts";
import { FakePlatform } from "./fake-platform.ts";
import { type Answer, d1, resetD1 } from "./fake-usage-reports.ts";
import { NaiveLimiter } from "./naive-limiter.ts";

vi.mock("cloudflare:workers", () => ({
  DurableObject: class {
    readonly ctx: unknown;
    constructor(ctx: unknown) {
      this.ctx = ctx;
    }
  },
}));

vi.mock("../../../src/worker/db/usage-report-repository.ts", () => import("./fake-usage-reports.ts"));

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const LIMITS = { perMinute: 8, perDay: 40 };
const KEY_ID = "key_simulated";
/** The moment of the day from which this key's usage is reported is some minutes later. */
const MIDNIGHT = Date.UTC(2026, 10, 21);

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(console, "log").mockImplementation(() => {});
  vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const event = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("requests" as const),
      count: fc.integer({ min: 1, max: 40 }),
      gapMs: fc.constantFrom(0, 300, 999, 1_100),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("wait" as const),
      ms: fc.oneof(
        fc.constantFrom(1_000, 60_000, 600_000, DAY - 1_000, DAY, DAY + 1_000, 2 * DAY),
        fc.integer({ min: 1, max: 2 * DAY }),
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("midnight" as const),
      afterMs: fc.integer({ min: -2_000, max: 900_000 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("d1" as const),
      answer: fc.constantFrom<Answer>("given", "lost", "lost", "none"),
      delayMs: fc.constantFrom(0, 500, 5_000, 120_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("delay alarms" as const),
      ms: fc.constantFrom(0, 700, 60_000, 2 * DAY),
    }),
  },
);
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

class Simulation {
  readonly platform = new FakePlatform(KeyLimiter);
  readonly naive = new NaiveLimiter();
  readonly admitted = new Map<string, number>();
  requests = 0;

  async run(expect: ExpectStatic, next: Event): Promise<void> {
    switch (next.do) {
      case "requests":
        for (let i = 0; i < next.count; i++) {
          this.request(expect);
          await vi.advanceTimersByTimeAsync(next.gapMs);
        }
        return;
      case "wait":
        // During an outage there is an alarm each minute.
        await vi.advanceTimersByTimeAsync(d1.answer === "given" ? next.ms : Math.min(next.ms, HOUR));
        return;
      case "midnight": {
        const midnight = Math.ceil(Date.now() / DAY) * DAY;
        await vi.advanceTimersByTimeAsync(Math.max(0, midnight + next.afterMs - Date.now()));
        return;
      }
      case "d1":
        Object.assign(d1, { answer: next.answer, delayMs: next.delayMs });
        return;
      case "delay alarms":
        this.platform.alarmDelayMs = next.ms;
    }
  }

  request(expect: ExpectStatic): void {
    const nowMs = Date.now();
    const call = { keyId: KEY_ID, version: 1, limits: LIMITS, ...NO_OVERRIDE, sentAtMs: nowMs };
    const verdict = this.platform.limiter.admit(call);
    this.requests++;
    const expected = this.naive.request(LIMITS, nowMs, NO_OVERRIDE);
    expect(verdict.kind).toBe(expected);
    if (verdict.kind === "banned") expect(verdict.ban.endsAtMs).toBe(this.naive.banEnd);
    if (verdict.kind !== "admitted") return;
    const used = this.naive.used();
    expect(verdict.quota.minute.used).toBe(used.minute);
    expect(verdict.quota.day.used).toBe(used.day);
    this.admitted.set(dayName(nowMs), (this.admitted.get(dayName(nowMs)) ?? 0) + 1);
  }
}

describe("the limiter's object, with D1 and alarms that fail", () => {
  it("forgets nothing that counts, and D1 has every admitted request in the end", async ({ expect }) => {
    let deletions = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 1, maxLength: 25, size: "max" }), async (events) => {
        vi.setSystemTime(MIDNIGHT + DAY / 2);
        resetD1();
        const simulation = new Simulation();
        for (const next of events) await simulation.run(expect, next);
        Object.assign(d1, { answer: "given", delayMs: 0 });
        simulation.platform.alarmDelayMs = 0;
        await vi.advanceTimersByTimeAsync(8 * DAY);
        expect(d1.admitted).toEqual(simulation.admitted);
        if (simulation.requests > 0) expect(simulation.platform.isEmpty).toBe(true);
        deletions += simulation.platform.deletions;
        vi.clearAllTimers();
      }),
      { numRuns: 15 },
    );
    expect(deletions).toBeGreaterThan(0);
  });

  it("reports no sooner than 10 s after a report that failed, whatever requests come", async ({ expect }) => {
    vi.setSystemTime(MIDNIGHT + DAY / 2);
    resetD1();
    d1.answer = "none";
    const simulation = new Simulation();
    await simulation.run(expect, { do: "requests", count: 10, gapMs: 999 });
    expect(d1.reports).toBe(1);
    await simulation.run(expect, { do: "requests", count: 2, gapMs: 999 });
    expect(d1.reports).toBe(2);
  });

  it("is forgotten a day after its last save, at once if the alarm comes later, and no sooner than D1 has answered", async ({
    expect,
  }) => {
    vi.setSystemTime(MIDNIGHT + DAY / 2);
    resetD1();
    d1.answer = "lost";
    const simulation = new Simulation();
    const { platform } = simulation;
    simulation.request(expect);
    // D1 has the usage, but its answers are lost: the limiter repeats its reports, and each of them is a save.
    await vi.advanceTimersByTimeAsync(14 * HOUR);
    expect(d1.admitted).toEqual(simulation.admitted);
    expect(platform.isEmpty).toBe(false);
    // The alarm is so late that its report is answered more than a day after the last save: nothing is left to wait for.
    platform.alarmDelayMs = 2 * DAY;
    await vi.advanceTimersByTimeAsync(60_000);
    d1.answer = "given";
    await vi.advanceTimersByTimeAsync(2 * DAY + 60_000);
    expect(platform.isEmpty).toBe(true);
    simulation.request(expect);
    expect(platform.isEmpty).toBe(false);
  });
});
