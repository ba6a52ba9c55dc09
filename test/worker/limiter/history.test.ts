/** What limiters tell the history in D1: each key's use of a day and every ban, also when D1 was away for a while. */
import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import {
  admitAtOnce,
  crash,
  eventually,
  firstReport,
  freshLimiter,
  type Limiter,
  setClock,
  storedState,
  withoutLog,
} from "./limiter-support.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
const NOON = Date.UTC(2034, 6, 1, 12);
const AFTER_MIDNIGHT = Date.UTC(2034, 6, 2, 0, 16);
const LIMITS = { perMinute: 10, perDay: 100 };

let errors: ReturnType<typeof withoutLog>["errors"];

beforeEach(() => {
  errors = withoutLog().errors;
  setClock(NOON);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function useOf(limiter: Limiter): Promise<unknown[]> {
  const { results } = await env.DB.prepare(
    "select day, admitted, refused, refused_while_banned from daily_usage where key_id = ? order by day",
  )
    .bind(limiter.id.name)
    .all();
  return results.map((row) => Object.values(row));
}

async function bansOf(limiter: Limiter): Promise<unknown[]> {
  const { results } = await env.DB.prepare(
    "select cause, strikes, ends_at - started_at as seconds from bans where key_id = ?",
  )
    .bind(limiter.id.name)
    .all();
  return results;
}

/** Takes the history's tables away while `body` runs, as an outage of D1 would. */
async function withoutHistory(body: () => Promise<void>): Promise<void> {
  await env.DB.exec("alter table daily_usage rename to daily_use_away");
  await env.DB.exec("alter table bans rename to bans_away");
  try {
    await body();
  } finally {
    await env.DB.exec("alter table daily_use_away rename to daily_usage");
    await env.DB.exec("alter table bans_away rename to bans");
  }
}

async function pollUntilBanned(limiter: Limiter): Promise<void> {
  await admitAtOnce(limiter, LIMITS, 11);
  setClock(Date.now() + 1_000);
  await admitAtOnce(limiter, LIMITS, 20);
}

describe("a day's use", () => {
  it("is told with its first request, and with its final figures once it is over", async ({ expect }) => {
    const limiter = freshLimiter();
    await limiter.admit({ version: 1, limits: LIMITS });
    await firstReport(limiter);
    expect(await useOf(limiter)).toEqual([["2034-07-01", 1, 0, 0]]);
    await admitAtOnce(limiter, LIMITS, 12);
    expect(await useOf(limiter)).toEqual([["2034-07-01", 1, 0, 0]]);
    setClock(AFTER_MIDNIGHT);
    await runDurableObjectAlarm(limiter);
    expect(await useOf(limiter)).toEqual([["2034-07-01", 10, 3, 0]]);
  });

  it("is told by the next day's first request if that comes before the alarm", async ({ expect }) => {
    const limiter = freshLimiter();
    await admitAtOnce(limiter, LIMITS, 3);
    await firstReport(limiter);
    setClock(NOON + DAY);
    await limiter.admit({ version: 1, limits: LIMITS });
    await eventually(async () => (await useOf(limiter)).length === 2);
    expect(await useOf(limiter)).toEqual([
      ["2034-07-01", 3, 0, 0],
      ["2034-07-02", 1, 0, 0],
    ]);
  });

  it("is told once a day, although the object wakes up anew for each request", async ({ expect }) => {
    let limiter = freshLimiter();
    await limiter.admit({ version: 1, limits: LIMITS });
    await firstReport(limiter);
    await env.DB.prepare("delete from daily_usage where key_id = ?").bind(limiter.id.name).run();
    for (let i = 1; i <= 5; i++) {
      limiter = await crash(limiter);
      setClock(NOON + i * 15_000);
      await limiter.admit({ version: 1, limits: LIMITS });
    }
    await limiter.inspect(LIMITS);
    expect(await useOf(limiter)).toEqual([]);
  });
});

describe("a ban", () => {
  it("is told when it begins", async ({ expect }) => {
    const limiter = freshLimiter();
    await pollUntilBanned(limiter);
    await eventually(async () => (await bansOf(limiter)).length > 0);
    expect(await bansOf(limiter)).toEqual([{ cause: "strikes", strikes: 20, seconds: 300 }]);
  });
});

describe("while D1 is away", () => {
  it("requests go on, and what there was to tell is told by alarm once it is back", async ({ expect }) => {
    const limiter = freshLimiter();
    await withoutHistory(async () => {
      await pollUntilBanned(limiter);
      setClock(AFTER_MIDNIGHT);
      await runDurableObjectAlarm(limiter);
      expect((await storedState(limiter))?.finishedDays).toHaveLength(1);
      expect((await storedState(limiter))?.alarmAtMs).toBe(AFTER_MIDNIGHT + MINUTE);
    });
    const awake = await crash(limiter);
    setClock(AFTER_MIDNIGHT + MINUTE);
    expect(await runDurableObjectAlarm(awake)).toBe(true);
    expect(await useOf(limiter)).toEqual([["2034-07-01", 10, 21, 0]]);
    expect(await bansOf(limiter)).toHaveLength(1);
  });

  it("a request 10 s later tells it, if one comes", async ({ expect }) => {
    const limiter = freshLimiter();
    await withoutHistory(async () => {
      await limiter.admit({ version: 1, limits: LIMITS });
      await eventually(async () => errors.mock.calls.length > 0);
    });
    setClock(NOON + 10_000);
    await limiter.admit({ version: 1, limits: LIMITS });
    await firstReport(limiter);
    expect(await useOf(limiter)).toEqual([["2034-07-01", 2, 0, 0]]);
  });
});
