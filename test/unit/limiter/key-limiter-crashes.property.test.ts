/**
 * The real KeyLimiter on a fake disk, with crashes, failing writes, new versions and bookmarks in the middle of bursts. It must
 * never admit more than the limit, nor show more than is left, and a crash costs a key no more than docs/promises.md says.
 */
import fc from "fast-check";
import { afterEach, beforeEach, describe, type ExpectStatic, it, vi } from "vitest";
import { NO_OVERRIDE } from "../../../src/worker/limiter/core/ban.ts";
import type { Limits } from "../../../src/worker/limiter/core/quota.ts";
import { KeyLimiter } from "../../../src/worker/limiter/key-limiter.ts";
import { FakePlatform } from "./fake-platform.ts";
import { d1, resetD1 } from "./fake-usage-reports.ts";

vi.mock("cloudflare:workers", () => ({
  DurableObject: class {
    readonly ctx: unknown;
    constructor(ctx: unknown) {
      this.ctx = ctx;
    }
  },
}));

vi.mock("../../../src/worker/db/usage-report-repository.ts", () => import("./fake-usage-reports.ts"));

const MINUTE = 60_000;
const DAY = 86_400_000;
const NOON = Date.UTC(2026, 10, 21, 12);
const KEY_ID = "key_simulated";
const SMALL = { perMinute: 20, perDay: 300 };
const PRO = { perMinute: 300, perDay: 10_000 };
const BAN = { id: "ban_1", cause: "operator", reason: null, strikes: 0 } as const;
const BUSINESS = { perMinute: 1_000, perDay: 3_000 };

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(NOON);
  vi.spyOn(console, "log").mockImplementation(() => {});
  vi.spyOn(console, "error").mockImplementation(() => {});
  resetD1();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const event = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("burst" as const),
      count: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constantFrom(150, 1_100)),
      gapMs: fc.constantFrom(0, 0, 1),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("crash" as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("version" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("bookmark" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("request that cannot be stored" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("wait" as const),
      ms: fc.constantFrom(300, 1_000, 2_000, MINUTE),
    }),
  },
);
type Event = typeof event extends fc.Arbitrary<infer T> ? T : never;

class Simulation {
  readonly #platform = new FakePlatform(KeyLimiter);
  readonly #limits: Limits;
  readonly #expect: ExpectStatic;
  readonly #admitted = new Map<string, number>();
  #version = 1;
  #bookmark = 0;
  #lastCallMs = 0;

  constructor(limits: Limits, expect: ExpectStatic) {
    this.#limits = limits;
    this.#expect = expect;
  }

  async run(next: Event): Promise<void> {
    if (next.do === "burst") {
      for (let i = 0; i < next.count; i++) {
        this.#request();
        if (next.gapMs > 0) await vi.advanceTimersByTimeAsync(next.gapMs);
      }
    } else if (next.do === "crash") this.#crash();
    else if (next.do === "version") this.#platform.limiter.raiseMinVersion(KEY_ID, ++this.#version);
    else if (next.do === "bookmark") this.#platform.limiter.raiseBookmark(KEY_ID, this.#nextBookmark());
    else if (next.do === "wait") await vi.advanceTimersByTimeAsync(next.ms);
    else {
      this.#platform.isReadOnly = true;
      this.#request();
      this.#platform.isReadOnly = false;
    }
  }

  #nextBookmark(): string {
    return String(++this.#bookmark).padStart(8, "0");
  }

  #request(): void {
    const nowMs = Date.now();
    this.#lastCallMs = nowMs;
    const call = { keyId: KEY_ID, version: this.#version, limits: this.#limits, sentAtMs: nowMs };
    let verdict: ReturnType<KeyLimiter["admit"]>;
    try {
      verdict = this.#platform.limiter.admit({ ...call, ...NO_OVERRIDE });
    } catch {
      this.#expect(this.#platform.isReadOnly).toBe(true);
      return;
    }
    if (verdict.kind !== "admitted") return;
    const { minute, day } = verdict.quota;
    for (const [name, window, limit] of [
      ["minute", minute, this.#limits.perMinute],
      ["day", day, this.#limits.perDay],
    ] as const) {
      const key = `${name} ${window.endsAtMs}`;
      const admitted = (this.#admitted.get(key) ?? 0) + 1;
      this.#admitted.set(key, admitted);
      this.#expect(admitted).toBeLessThanOrEqual(limit);
      this.#expect(window.used).toBeGreaterThanOrEqual(admitted);
    }
  }

  #crash(): void {
    const policy = { limits: this.#limits, ...NO_OVERRIDE };
    const before = this.#platform.limiter.inspect(policy);
    this.#platform.crash();
    const after = this.#platform.limiter.inspect(policy);
    const { perMinute, perDay } = this.#limits;
    const left = Math.min(perMinute - before.quota.minute.used, perDay - before.quota.day.used);
    const tenth = perMinute < 300 ? 0 : Math.floor(perMinute / 10) - 1;
    const isIdle = Date.now() - this.#lastCallMs >= 2_000;
    for (const name of ["minute", "day"] as const) {
      const lost = after.quota[name].used - before.quota[name].used;
      this.#expect(lost).toBeGreaterThanOrEqual(0);
      this.#expect(lost).toBeLessThanOrEqual(isIdle ? 0 : Math.max(0, Math.min(tenth, left)));
    }
    if (isIdle) this.#expect(after.days).toEqual(before.days);
    if (before.strikeBan) this.#expect(after.strikeBan).toEqual(before.strikeBan);
  }
}

describe("the limiter's object", () => {
  it("never admits more than the limit, whatever crashes, and a crash costs a reservation at most", async ({
    expect,
  }) => {
    const property = fc.asyncProperty(
      fc.constantFrom(SMALL, PRO, BUSINESS),
      fc.array(event, { minLength: 4, maxLength: 20, size: "max" }),
      async (limits, events) => {
        vi.setSystemTime(NOON);
        const simulation = new Simulation(limits, expect);
        for (const next of events) await simulation.run(next);
        vi.clearAllTimers();
      },
    );
    await fc.assert(property, { numRuns: 40 });
  });

  it("gives no request back after a crash of a burst in which the required version rose", async ({
    expect,
  }) => {
    const simulation = new Simulation(BUSINESS, expect);
    const burst = (count: number) => ({ do: "burst", count, gapMs: 0 }) as const;
    const events: Event[] = [burst(130), { do: "version" }, { do: "version" }, burst(20), { do: "crash" }];
    for (const next of [...events, burst(1_100)]) await simulation.run(next);
  });

  it("stores a refusal that is no strike and came after a save of the same second", async ({ expect }) => {
    const platform = new FakePlatform(KeyLimiter);
    const limits = { perMinute: 1, perDay: 100 };
    const request = (version: number) =>
      platform.limiter.admit({ keyId: KEY_ID, version, limits, sentAtMs: Date.now(), ...NO_OVERRIDE });
    request(1);
    await vi.advanceTimersByTimeAsync(1); // its report saves too
    request(1);
    platform.limiter.raiseMinVersion(KEY_ID, 2);
    request(2);
    await vi.advanceTimersByTimeAsync(3_000);
    platform.crash();
    expect(platform.limiter.inspect({ limits, ...NO_OVERRIDE }).days).toMatchObject([{ refused: 2 }]);
  });

  it("logs no ban that could not be stored", ({ expect }) => {
    const platform = new FakePlatform(KeyLimiter);
    const request = (atMs: number) => {
      vi.setSystemTime(atMs);
      const call = { keyId: KEY_ID, version: 1, limits: SMALL, sentAtMs: atMs, ...NO_OVERRIDE };
      return platform.limiter.admit(call).kind;
    };
    const log = vi.spyOn(console, "log");
    const bans = () => log.mock.calls.filter(([line]) => /ban_started/.test(String(line)));
    for (let i = 0; i < SMALL.perMinute + 1; i++) request(NOON);
    for (let i = 0; i < 19; i++) expect(request(NOON + 2_000)).toBe("limited");
    platform.isReadOnly = true;
    for (let i = 0; i < 3; i++) expect(() => request(NOON + 3_000)).toThrow();
    expect(bans()).toHaveLength(0);
    platform.isReadOnly = false;
    expect(request(NOON + 3_000)).toBe("banned");
    expect(bans()).toHaveLength(1);
  });

  it("stores the number of refusals during a ban with each pause", async ({ expect }) => {
    const platform = new FakePlatform(KeyLimiter);
    const operatorBan = { ...BAN, startedAtMs: NOON, endsAtMs: NOON + DAY };
    const policy = { limits: SMALL, ...NO_OVERRIDE, operatorBan };
    for (let pauses = 1; pauses <= 3; pauses++) {
      for (let i = 0; i < 10; i++) {
        platform.limiter.admit({ keyId: KEY_ID, version: 1, sentAtMs: Date.now(), ...policy });
      }
      await vi.advanceTimersByTimeAsync(2_000);
      platform.crash();
      const [today] = platform.limiter.inspect(policy).days;
      expect(today).toMatchObject({ refusedWhileBanned: 10 * pauses });
    }
  });

  it("sets its alarm earlier when a ban could not be reported", async ({ expect }) => {
    const platform = new FakePlatform(KeyLimiter);
    const request = () =>
      platform.limiter.admit({
        ...{ keyId: KEY_ID, version: 1, limits: SMALL, sentAtMs: Date.now() },
        ...NO_OVERRIDE,
      });
    request();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(platform.alarmAtMs).toBeGreaterThan(NOON + 11 * 3_600_000);
    d1.answer = "none";
    for (let i = 0; i < 25; i++) request();
    await vi.advanceTimersByTimeAsync(1_500);
    for (let i = 0; i < 20; i++) request();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(platform.limiter.inspect({ limits: SMALL, ...NO_OVERRIDE }).strikeBan).not.toBeNull();
    expect(platform.alarmAtMs).toBeLessThanOrEqual(Date.now() + MINUTE);
  });

  it("is not deleted while it is polled, though refusals by an operator's ban are not stored", async ({
    expect,
  }) => {
    const platform = new FakePlatform(KeyLimiter);
    platform.limiter.raiseMinVersion(KEY_ID, 1);
    await vi.advanceTimersByTimeAsync(DAY);
    d1.answer = "none";
    // Pauses that are too short for an idle flush, across the time of the alarm, which is the first one to report.
    for (let i = 0; i < 80; i++) {
      if (Date.now() > NOON + DAY + 59_000) d1.answer = "given";
      platform.limiter.admit({
        ...{ keyId: KEY_ID, version: 1, limits: SMALL, sentAtMs: Date.now() },
        ...NO_OVERRIDE,
        operatorBan: { ...BAN, startedAtMs: NOON, endsAtMs: NOON + 10 * DAY },
      });
      await vi.advanceTimersByTimeAsync(900);
    }
    expect(platform.deletions).toBe(0);
    await vi.advanceTimersByTimeAsync(2 * DAY);
    expect(platform.isEmpty).toBe(true);
  });

  it("is deleted a day after the last request, also by an alarm that comes some ms early", async ({
    expect,
  }) => {
    const platform = new FakePlatform(KeyLimiter);
    platform.limiter.admit({
      ...{ keyId: KEY_ID, version: 1, limits: SMALL, sentAtMs: NOON },
      ...NO_OVERRIDE,
    });
    platform.alarmDelayMs = -5;
    await vi.advanceTimersByTimeAsync(2 * DAY);
    expect(platform.isEmpty).toBe(true);
  });
});
