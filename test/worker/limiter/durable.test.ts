/** Counts and bans survive what happens to objects, at the price that the design names. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { maxBlockSize } from "../../../src/worker/limiter/core/reservation.ts";
import { addSecret, createKey } from "../../support/factories.ts";
import {
  admitAtOnce,
  BUSINESS,
  banNow,
  countOf,
  crash,
  eventually,
  FREE,
  firstReport,
  freshLimiter,
  type Limiter,
  limiterInUse,
  newIsolate,
  PRO,
  quietSave,
  setClock,
  storedState,
  withoutLog,
} from "./limiter-support.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
const MIDNIGHT = Date.UTC(2031, 0, 1);
const NOON = MIDNIGHT + DAY / 2;

beforeEach(() => {
  withoutLog();
  setClock(NOON);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

describe("true concurrency", () => {
  it.for([
    { plan: "Free", limits: FREE },
    { plan: "Pro", limits: PRO },
    { plan: "Business", limits: BUSINESS },
    { plan: "Enterprise, own limits,", limits: { perMinute: 47, perDay: 5_000 } },
  ])("2 and 10 times the limit of $plan at once admit exactly the limit", async ({ limits }, { expect }) => {
    for (const times of [2, 10]) {
      const { admitted, limited } = await admitAtOnce(freshLimiter(), limits, times * limits.perMinute);
      expect({ admitted, limited }).toEqual({
        admitted: limits.perMinute,
        limited: (times - 1) * limits.perMinute,
      });
    }
  });
});

describe("a crash", () => {
  it.for([1, 3, 50, 333, 777, 999, 1_000])(
    "after %i requests of a burst never gives a request, and loses at most the reservation",
    async (requests, { expect }) => {
      let limiter = await limiterInUse();
      const before = (await admitAtOnce(limiter, BUSINESS, requests)).admitted ?? 0;
      limiter = await crash(limiter);
      const after = (await admitAtOnce(limiter, BUSINESS, 1_100)).admitted ?? 0;
      expect(before).toBe(requests);
      expect(before + after).toBeLessThanOrEqual(1_000);
      expect(before + after).toBeGreaterThanOrEqual(1_000 - maxBlockSize(BUSINESS));
    },
  );

  it("again and again within one burst still never gives a request", async ({ expect }) => {
    let limiter = await limiterInUse();
    const bursts = [40, 3, 150, 1, 60, 90, 400, 1_000];
    let admitted = 0;
    for (const requests of bursts) {
      admitted += (await admitAtOnce(limiter, BUSINESS, requests)).admitted ?? 0;
      limiter = await crash(limiter);
    }
    expect(admitted).toBeLessThan(1_000);
    expect(admitted).toBeGreaterThanOrEqual(1_000 - bursts.length * maxBlockSize(BUSINESS));
  });

  it("does cost something mid-burst, or these tests would not see a reservation", async ({ expect }) => {
    let limiter = await limiterInUse();
    await admitAtOnce(limiter, BUSINESS, 300);
    limiter = await crash(limiter);
    const { remaining } = (await limiter.inspect(BUSINESS)).quota.minute;
    expect(remaining).toBeLessThan(700);
    expect(remaining).toBeGreaterThanOrEqual(700 - maxBlockSize(BUSINESS));
  });
});

describe("an eviction", () => {
  it("comes after the quiet second, which the timer waits for, and loses nothing", async ({ expect }) => {
    const limiter = await limiterInUse();
    await admitAtOnce(limiter, BUSINESS, 540);
    expect((await storedState(limiter))?.counts.minute.used).toBeGreaterThan(540);
    await quietSave(limiter);
    await evictDurableObject(limiter);
    expect((await limiter.inspect(BUSINESS)).quota.minute.remaining).toBe(460);
  });
});

describe("a client that never pauses", () => {
  it("has its refusals saved once a minute, although no quiet second comes", async ({ expect }) => {
    const limiter = await limiterInUse();
    await banNow(limiter, 10 * MINUTE);
    setClock(NOON + MINUTE);
    await eventually(async () => {
      await limiter.admit({ version: 1, limits: FREE });
      return (await storedState(limiter))?.savedAtMs === NOON + MINUTE;
    });
    expect((await storedState(limiter))?.refusedWhileBanned).toBeGreaterThan(0);
  });
});

describe("a limiter whose alarm was lost", () => {
  it("sets another with its next save", async ({ expect }) => {
    const limiter = await limiterInUse();
    await runInDurableObject(limiter, (_, { storage }) => storage.deleteAlarm());
    setClock(NOON + 2 * DAY);
    await limiter.admit({ version: 1, limits: FREE });
    const alarm = await runInDurableObject(limiter, (_, { storage }) => storage.getAlarm());
    expect(alarm).toBeGreaterThan(NOON + 2 * DAY);
  });
});

describe("an idle limiter", () => {
  it("deletes everything a day after its last request, and starts anew", async ({ expect }) => {
    const limiter = freshLimiter();
    await admitAtOnce(limiter, FREE, 10);
    await firstReport(limiter);
    setClock(MIDNIGHT + DAY + 16 * MINUTE);
    expect(await runDurableObjectAlarm(limiter)).toBe(true);
    expect(await storedState(limiter)).toBeDefined();
    setClock(NOON + DAY);
    expect(await runDurableObjectAlarm(limiter)).toBe(true);
    expect(await leftIn(limiter)).toEqual({ tables: 0, alarm: null });
    expect((await limiter.inspect(FREE)).quota.day.remaining).toBe(1_000);
    expect(await admitAtOnce(limiter, FREE, 70)).toEqual({ admitted: 60, limited: 10 });
  });

  it("keeps a live ban until it is over", async ({ expect }) => {
    const limiter = freshLimiter();
    await banNow(limiter, 3 * DAY);
    setClock(NOON + 2 * DAY);
    expect(await runDurableObjectAlarm(limiter)).toBe(true);
    await evictDurableObject(limiter);
    expect(await admitAtOnce(limiter, FREE, 1)).toEqual({ banned: 1 });
    // The banned request counts as a sign of life.
    for (const days of [3, 4]) {
      setClock(NOON + days * DAY);
      await runDurableObjectAlarm(limiter);
    }
    expect(await leftIn(limiter)).toEqual({ tables: 0, alarm: null });
  });
});

function leftIn(limiter: Limiter): Promise<{ tables: number; alarm: number | null }> {
  return runInDurableObject(limiter, async (_, { storage }) => ({
    tables: storage.sql.exec("select 1 from sqlite_master").toArray().length,
    alarm: await storage.getAlarm(),
  }));
}

describe("whose count it is", () => {
  it("two keys never touch each other's, however much at once", async ({ expect }) => {
    const keys = await Promise.all([30, 40].map((perMinute) => createKey({ perMinute })));
    const call = newIsolate();
    const statuses = keys.map(async ({ key }) => {
      const responses = await Promise.all(Array.from({ length: 50 }, () => call(key)));
      return countOf(responses.map(({ status }) => status));
    });
    expect(await Promise.all(statuses)).toEqual([
      { 200: 30, 429: 20 },
      { 200: 40, 429: 10 },
    ]);
  });

  it("both secrets of a rotated key share one", async ({ expect }) => {
    const { id, key } = await createKey({ perMinute: 10 });
    const second = await addSecret(id);
    const call = newIsolate();
    const remaining: (string | null)[] = [];
    for (const secret of [key, second, second, key]) {
      remaining.push((await call(secret)).headers.get("X-RateLimit-Remaining"));
    }
    expect(remaining).toEqual(["9", "8", "7", "6"]);
  });
});
