/** The object by example, on the fake platform: loads, settled costs, changes by code, reports, alarms. */
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { acknowledge, EMPTY_OUTBOX } from "../../core/usage.ts";
import {
  type LimiterCall,
  type Policy,
  perDay,
  perMinute,
  perMonth,
  RateLimiter,
  type Report,
} from "../../index.ts";
import { counted, Platform } from "./platform.ts";

const NOON = Date.UTC(2026, 10, 21, 12);
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

beforeEach(() => {
  vi.useFakeTimers({ now: NOON });
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const usedOf = async (platform: Platform<RateLimiter>, call: LimiterCall = {}) =>
  (await platform.object.inspect(call))?.quota.map(({ used }) => used);

/** Each load waits until the test answers it. */
class LoadingLimiter extends RateLimiter {
  static answers: ((policy: Policy) => void)[] = [];
  override loadPolicy() {
    const { promise, resolve } = Promise.withResolvers<Policy>();
    LoadingLimiter.answers.push(resolve);
    return promise;
  }
}

describe("a load that does not settle", () => {
  const answer = (load: number, version: number) =>
    LoadingLimiter.answers[load - 1]?.({ limits: [perMinute(9)], facts: { version } });
  const start = () => {
    LoadingLimiter.answers = [];
    const platform = new Platform(LoadingLimiter);
    const ask = async () => {
      const asked = platform.object.admit({}).then(
        (verdict) => counted(verdict).facts.version,
        (error: Error) => error.name,
      );
      await pass(10);
      return { asked };
    };
    return { platform, ask };
  };

  it("fails its call after five seconds, and the next call loads anew", async ({ expect }) => {
    const { ask } = start();
    const first = await ask();
    await pass(5 * SECOND);
    const second = await ask();
    answer(2, 2);
    expect([await first.asked, await second.asked]).toEqual(["LimiterTimeoutError", 2]);
  });

  it("does not keep a policy in use from being loaded again", async ({ expect }) => {
    const { ask } = start();
    const first = await ask();
    answer(1, 1);
    await first.asked;
    await pass(31 * SECOND);
    expect(await (await ask()).asked).toBe(1);
    await pass(30 * SECOND);
    const after = await ask();
    answer(3, 3);
    expect(await after.asked).toBe(3);
  });

  it.for<[late: string, between: (each: ReturnType<typeof start>) => unknown, version: number]>([
    ["is used", () => undefined, 1],
    ["is not used after forget()", ({ platform }) => platform.object.forget(), 2],
    ["is not used after that of a newer load", async ({ ask }) => [await ask(), answer(2, 2)], 2],
  ])("answers late, and the answer %s", async ([, between, version], { expect }) => {
    const started = start();
    await started.ask();
    await pass(6 * SECOND);
    await between(started);
    answer(1, 1);
    await pass(0);
    const last = await started.ask();
    answer(2, 2);
    expect(await last.asked).toBe(version);
  });
});

describe("a reserve that saves no write", () => {
  it.for<[of: string, call: LimiterCall, used: number]>([
    ["a cost above the block", { cost: 4_000 }, 4_000],
    ["a cost that is to be settled", { settleId: "a" }, 1],
  ])("is not made: %s", async ([, call, used], { expect }) => {
    const platform = new Platform(RateLimiter);
    const limits = [perMonth(100_000)];
    await platform.object.admit({ ...call, limits });
    platform.crash();
    expect(await usedOf(platform, { limits })).toEqual([used]);
  });
});

describe("a burst whose exact count cannot be stored", () => {
  it("stores the count once the storage can be written again", async ({ expect }) => {
    const platform = new Platform(RateLimiter);
    const limits = [perMinute(1_000)];
    for (let i = 0; i < 2; i++) await platform.object.admit({ limits });
    platform.isReadOnly = true;
    await expect(pass(2 * SECOND)).rejects.toThrow("the storage cannot be written");
    platform.isReadOnly = false;
    await pass(3 * SECOND);
    platform.crash();
    expect(await usedOf(platform, { limits })).toEqual([2]);
  });
});

describe("inspect()", () => {
  it("knows the minute of the last request, also after a crash, with and without a reserve", async ({
    expect,
  }) => {
    for (const requests of [1, 600]) {
      const platform = new Platform(RateLimiter);
      const call = { limits: [perMinute(requests), perDay(10_000)] };
      const last = async () => (await platform.object.inspect(call))?.lastRequestMs;
      expect(await last()).toBeNull();
      for (const _ of [1, 2]) {
        await pass(7 * MINUTE);
        const minuteMs = Math.floor(Date.now() / MINUTE) * MINUTE;
        await platform.object.admit(call);
        await pass(10 * MINUTE);
        platform.crash();
        expect(await last()).toBe(minuteMs);
      }
    }
  });

  it("knows the minute of the last refusal, if the object keeps usage", async ({ expect }) => {
    class Reporting extends RateLimiter {
      override async report() {}
    }
    const { object } = new Platform(Reporting);
    const call = { limits: [perDay(1)] };
    await object.admit(call);
    await pass(3 * MINUTE);
    const minuteMs = Math.floor(Date.now() / MINUTE) * MINUTE;
    await object.admit(call);
    await pass(2 * HOUR);
    await object.flush();
    expect((await object.inspect(call))?.lastRequestMs).toBe(minuteMs);
  });
});

describe("a key that code changes", () => {
  const call = { limits: [perMinute(1)], bans: { strikes: 1, firstSeconds: 100 } };
  const kindOf = async ({ object }: Platform<RateLimiter>) => (await object.admit(call)).kind;
  /** Its ban begins, and says how many seconds it has. */
  const ban = async (platform: Platform<RateLimiter>) => {
    for (let i = 0; i < 3; i++) await kindOf(platform);
    await pass(2 * SECOND);
    const verdict = await platform.object.admit(call);
    return verdict.kind === "banned" ? (verdict.ban.endsAtMs - Date.now()) / SECOND : verdict.kind;
  };

  it("counts from zero after reset(), without a ban or a block", async ({ expect }) => {
    const platform = new Platform(RateLimiter);
    await ban(platform);
    await platform.object.block({ endsAtMs: NOON + HOUR, reason: null });
    await platform.object.reset();
    platform.crash();
    expect([await usedOf(platform, call), await kindOf(platform)]).toEqual([[0], "admitted"]);
  });

  it("is banned to the year 9999, although the runtime takes no alarm after 2189", async ({ expect }) => {
    const platform = new Platform(RateLimiter);
    await platform.object.block({ endsAtMs: Date.UTC(9999, 11, 31), reason: "for good" });
    platform.crash();
    await pass(HOUR);
    expect(await kindOf(platform)).toBe("banned");
  });

  it.for([Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER])(
    "cannot be blocked until %s, by code or by a policy",
    async (endsAtMs, { expect }) => {
      class Blocked extends RateLimiter {
        override async loadPolicy() {
          return { limits: [perMinute(1)], blocked: { endsAtMs, reason: null } };
        }
      }
      const { object } = new Platform(Blocked);
      await expect(object.block({ endsAtMs, reason: null })).rejects.toThrow("before the year 10000");
      await expect(object.admit({})).rejects.toThrow("before the year 10000");
    },
  );
});

/** Its reports go to the test, and fail when told. */
class ReportingLimiter extends RateLimiter {
  static policy: Policy = { limits: [perMinute(10)] };
  static reports: { report: Report; atMs: number }[] = [];
  static fails = false;
  static hangs = false;
  constructor(ctx: DurableObjectState, env: unknown) {
    super(ctx, env, { thresholds: { window: "minute", percents: [80, 100] } });
  }
  override async loadPolicy() {
    return ReportingLimiter.policy;
  }
  override async report(report: Report) {
    ReportingLimiter.reports.push({ report, atMs: Date.now() });
    if (ReportingLimiter.fails) throw new Error("the report was lost");
    if (ReportingLimiter.hangs) await new Promise(() => undefined);
  }
}

describe("reports", () => {
  const start = (policy: Policy) => {
    Object.assign(ReportingLimiter, { policy, reports: [], fails: false });
    return new Platform(ReportingLimiter);
  };
  const ask = async ({ object }: Platform<ReportingLimiter>, count: number) => {
    for (let i = 0; i < count; i++) await object.admit({});
    await pass(0);
  };
  const timesMs = () => ReportingLimiter.reports.map(({ atMs }) => atMs);

  it("that failed are repeated by a request a minute later, if the platform lost the alarm", async ({
    expect,
  }) => {
    const platform = start({ limits: [perMinute(10)] });
    platform.losesAlarms = true;
    await ask(platform, 1);
    ReportingLimiter.fails = true;
    await ask(platform, 8);
    ReportingLimiter.fails = false;
    await pass(MINUTE);
    await ask(platform, 1);
    const named = ReportingLimiter.reports.map(({ report }) => report.thresholds.length);
    expect(named).toEqual([0, 1, 1]);
  });

  it("say to the minute when the last ten credentials were used last, also for a 429", async ({ expect }) => {
    const credentials = Array.from({ length: 12 }, (_, i) => ({ hash: String(i), expiresAtMs: null }));
    const platform = start({ limits: [perMinute(300), perDay(5_000)], credentials });
    const startMs = Math.floor(Date.now() / MINUTE) * MINUTE;
    const use = async (credential: string, count: number) => {
      for (let i = 0; i < count; i++) await platform.object.admit({ credential });
      await pass(MINUTE);
    };
    const reported = async () => {
      await platform.object.flush();
      return ReportingLimiter.reports.at(-1)?.report.credentials;
    };
    await use("0", 1);
    await use("1", 301);
    platform.crash();
    await platform.object.reset();
    await use("unknown", 1);
    await use("0", 1);
    expect(await reported()).toEqual([
      { hash: "0", lastUsedMs: startMs + 3 * MINUTE },
      { hash: "1", lastUsedMs: startMs + MINUTE },
    ]);
    await platform.object.block({ endsAtMs: startMs + HOUR, reason: null });
    for (const { hash } of credentials) await use(hash, 2);
    const last = credentials.slice(-10).reverse();
    expect((await reported())?.map(({ hash }) => hash)).toEqual(last.map(({ hash }) => hash));
  });

  it("name a threshold once, again under a changed limit, and again in the next window", async ({
    expect,
  }) => {
    const platform = start({ limits: [perMinute(10)] });
    await ask(platform, 20);
    ReportingLimiter.policy = { limits: [perMinute(12)] };
    await platform.object.forget();
    await ask(platform, 2);
    await pass(MINUTE);
    await ask(platform, 12);
    const reached = ReportingLimiter.reports.flatMap(({ report }) => report.thresholds);
    const shown = reached.map(({ percent, window }) => [percent, window.used, window.limit]);
    expect(shown).toEqual([
      [80, 8, 10],
      [100, 10, 10],
      [80, 11, 12],
      [100, 12, 12],
      [80, 10, 12],
      [100, 12, 12],
    ]);
  });

  it("of hours that fail are repeated in the key's own minute of each hour", async ({ expect }) => {
    const platform = start({ limits: [perDay(9)] });
    ReportingLimiter.fails = true;
    await ask(platform, 1);
    await pass(4 * HOUR);
    const hourly = timesMs().slice(1);
    expect(hourly.length).toBeGreaterThanOrEqual(3);
    expect(new Set(hourly.map((atMs) => atMs % HOUR)).size).toBe(1);
    ReportingLimiter.fails = false;
    await pass(HOUR);
    await pass(HOUR);
    expect(timesMs()).toHaveLength(hourly.length + 2);
  });

  it("without an answer for half a minute do not hold up the next", async ({ expect }) => {
    const platform = start({ limits: [perDay(10_000)] });
    ReportingLimiter.hangs = true;
    await ask(platform, 1);
    ReportingLimiter.hangs = false;
    await pass(91 * SECOND);
    await ask(platform, 1);
    expect(timesMs()).toHaveLength(2);
  });

  it("leave a ban that began while they were on their way", ({ expect }) => {
    const ban = (id: string) => ({ id, strikes: 20, startedAtMs: NOON, endsAtMs: NOON + HOUR });
    const reported = { ...EMPTY_OUTBOX, bans: [ban("a")] };
    const since = { ...reported, bans: [ban("a"), ban("b")] };
    expect(acknowledge(since, reported, NOON).bans).toEqual([ban("b")]);
  });

  it("that fail for days keep the hours of the last two", async ({ expect }) => {
    const platform = start({ limits: [perDay(1_000)] });
    ReportingLimiter.fails = true;
    for (let hour = 0; hour < 60; hour++) {
      await ask(platform, 1);
      await pass(HOUR);
    }
    ReportingLimiter.fails = false;
    await platform.object.flush();
    const hours = ReportingLimiter.reports.at(-1)?.report.hours ?? [];
    expect([hours.length, hours.at(-1)?.startMs]).toEqual([48, NOON + 59 * HOUR]);
  });

  it("end with the storage, which is written once more when the report has arrived", async ({ expect }) => {
    const platform = start({ limits: [perMinute(10)] });
    await ask(platform, 1);
    await pass(MINUTE);
    expect(platform.writes).toBe(2);
    await pass(3 * HOUR);
    expect(platform.isEmpty).toBe(true);
  });
});

describe("an alarm", () => {
  it("that the platform lost is set again, so that the storage is deleted", async ({ expect }) => {
    const platform = new Platform(RateLimiter);
    const limits = [perMinute(1)];
    platform.losesAlarms = true;
    await platform.object.admit({ limits });
    await pass(HOUR);
    platform.losesAlarms = false;
    await platform.object.admit({ limits });
    await pass(HOUR);
    expect(platform.isEmpty).toBe(true);
  });
});

describe("another version", () => {
  it("left a row without the newer members: counts stay, and the policy is loaded again", async ({
    expect,
  }) => {
    Object.assign(ReportingLimiter, { policy: { limits: [perDay(9)] }, reports: [], fails: false });
    const platform = new Platform(ReportingLimiter);
    await platform.object.admit({});
    platform.changeRow(({ policyVersion: _, block: _block, reserves: _reserves, outbox, ...older }) => {
      const { thresholds: _thresholds, lastThreshold: _last, ...olderOutbox } = outbox;
      return { ...older, outbox: olderOutbox };
    });
    ReportingLimiter.policy = { limits: [perDay(5)] };
    const { kind, quota } = counted(await platform.object.admit({ settleId: "a" }));
    expect([kind, quota[0]?.used, quota[0]?.limit]).toEqual(["admitted", 2, 5]);
    await platform.object.flush();
    expect(ReportingLimiter.reports.at(-1)?.report.hours[0]?.admitted).toBe(2);
  });

  it("sends a call with members that are unknown here", async ({ expect }) => {
    const newer = { version: 2, limits: [perDay(9)], priority: "high" };
    expect((await new Platform(RateLimiter).object.admit(newer)).kind).toBe("admitted");
  });
});
