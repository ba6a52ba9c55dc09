/** Counts and bans survive crashes and evictions, with at most the documented loss. */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { describe, it, vi } from "vitest";
import { maxBlockSize } from "../../../src/worker/limiter/core/reservation.ts";
import { addSecret, createKey } from "../../support/factories.ts";
import {
  admit,
  admitAtOnce,
  BUSINESS,
  countOf,
  crash,
  FREE,
  firstReport,
  freshLimiter,
  idleFlush,
  LIST,
  type Limiter,
  limiterInUse,
  PRO,
  policyOf,
  setClock,
  startApp,
  startEachTestAt,
  storedState,
} from "../../support/worker.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
const MIDNIGHT = Date.UTC(2031, 0, 1);
const NOON = MIDNIGHT + DAY / 2;

startEachTestAt(NOON);

describe("concurrent requests", () => {
  it.for([
    { plan: "Free", limits: FREE, times: 10 },
    { plan: "Pro", limits: PRO, times: 10 },
    { plan: "Business", limits: BUSINESS, times: 2 },
    { plan: "Enterprise, own limits,", limits: { perMinute: 47, perDay: 5_000 }, times: 10 },
  ])("$times times the limit of $plan at once admits exactly the limit", async (row, { expect }) => {
    const { limits, times } = row;
    expect(await admitAtOnce(freshLimiter(), limits, times * limits.perMinute)).toEqual({
      admitted: limits.perMinute,
      limited: (times - 1) * limits.perMinute,
    });
  });
});

describe("a crash", () => {
  it.for([3, 333, 999])(
    "after %i requests of a burst never admits an extra one, and loses at most the reservation",
    async (requests, { expect }) => {
      let limiter = await limiterInUse();
      const before = (await admitAtOnce(limiter, BUSINESS, requests)).admitted ?? 0;
      limiter = await crash(limiter);
      const after = (await admitAtOnce(limiter, BUSINESS, 1_010)).admitted ?? 0;
      expect(before).toBe(requests);
      expect(before + after).toBeLessThanOrEqual(1_000);
      expect(before + after).toBeGreaterThanOrEqual(1_000 - maxBlockSize(BUSINESS));
    },
  );

  it("several times within one burst never admits an extra request", async ({ expect }) => {
    let limiter = await limiterInUse();
    const bursts = [40, 3, 150, 1, 60, 90, 700];
    let admitted = 0;
    for (const requests of bursts) {
      admitted += (await admitAtOnce(limiter, BUSINESS, requests)).admitted ?? 0;
      limiter = await crash(limiter);
    }
    expect(admitted).toBeLessThan(1_000);
    expect(admitted).toBeGreaterThanOrEqual(1_000 - bursts.length * maxBlockSize(BUSINESS));
  });

  it("at any point of a burst loses nothing for a limit below 300 a minute", async ({ expect }) => {
    for (const requests of [1, 7, 30, 59]) {
      let limiter = freshLimiter();
      await admitAtOnce(limiter, FREE, requests);
      limiter = await crash(limiter);
      expect(await admitAtOnce(limiter, FREE, 60)).toEqual({ admitted: 60 - requests, limited: requests });
    }
  });

  it("loses part of a reservation in a burst, so that the tests above can fail", async ({ expect }) => {
    let limiter = await limiterInUse();
    await admitAtOnce(limiter, BUSINESS, 300);
    limiter = await crash(limiter);
    const { remaining } = (await limiter.inspect(policyOf(BUSINESS))).quota.minute;
    expect(remaining).toBeLessThan(700);
    expect(remaining).toBeGreaterThanOrEqual(700 - maxBlockSize(BUSINESS));
  });
});

describe("an eviction", () => {
  it("comes after the idle flush, because of the pending timer, and loses nothing", async ({ expect }) => {
    const limiter = await limiterInUse();
    await admitAtOnce(limiter, BUSINESS, 540);
    expect((await storedState(limiter))?.counts.minute.used).toBeGreaterThan(540);
    await idleFlush(limiter);
    await evictDurableObject(limiter);
    expect((await limiter.inspect(policyOf(BUSINESS))).quota.minute.remaining).toBe(460);
  });
});

describe("a limiter whose alarm was lost", () => {
  it("sets a new alarm with its next save", async ({ expect }) => {
    const limiter = await limiterInUse();
    await runInDurableObject(limiter, (_, { storage }) => storage.deleteAlarm());
    setClock(NOON + 2 * DAY);
    await admit(limiter, FREE);
    const alarm = await runInDurableObject(limiter, (_, { storage }) => storage.getAlarm());
    expect(alarm).toBeGreaterThan(NOON + 2 * DAY);
  });
});

describe("an idle limiter", () => {
  it("deletes its storage a day after its last save, and then counts from zero", async ({ expect }) => {
    const limiter = freshLimiter();
    await admitAtOnce(limiter, FREE, 10);
    await firstReport(limiter);
    setClock(MIDNIGHT + DAY + 16 * MINUTE);
    expect(await runDurableObjectAlarm(limiter)).toBe(true);
    expect(await storedState(limiter)).toBeDefined();
    setClock(MIDNIGHT + 2 * DAY + 16 * MINUTE);
    expect(await runDurableObjectAlarm(limiter)).toBe(true);
    expect(await leftIn(limiter)).toEqual({ tables: 0, alarm: null });
    expect((await limiter.inspect(policyOf(FREE))).quota.day.remaining).toBe(1_000);
    expect(await admitAtOnce(limiter, FREE, 70)).toEqual({ admitted: 60, limited: 10 });
  });

  it.for([
    { what: "cannot be deleted", isDeleted: false },
    { what: "is deleted by a call that fails", isDeleted: true },
  ])(
    "whose storage $what admits the next request, and deletes it later",
    async ({ isDeleted }, { expect }) => {
      const limiter = freshLimiter();
      await admit(limiter, FREE);
      await firstReport(limiter);
      setClock(MIDNIGHT + DAY + 16 * MINUTE);
      await runDurableObjectAlarm(limiter);
      setClock(MIDNIGHT + 2 * DAY + 16 * MINUTE);
      await runInDurableObject(limiter, (_, { storage }) => {
        const deleteAll = storage.deleteAll.bind(storage);
        vi.spyOn(storage, "deleteAll").mockImplementationOnce(async () => {
          if (isDeleted) await deleteAll();
          throw new Error("storage operation failed");
        });
      });
      await expect(runDurableObjectAlarm(limiter)).rejects.toThrow("storage operation failed");
      expect(await admit(limiter, FREE)).toMatchObject({ kind: "admitted" });
      expect((await storedState(limiter))?.counts.day.used).toBeGreaterThan(0);
      await firstReport(limiter);
      for (const day of [3, 4]) {
        setClock(MIDNIGHT + day * DAY + 16 * MINUTE);
        await runDurableObjectAlarm(limiter);
      }
      expect(await leftIn(limiter)).toEqual({ tables: 0, alarm: null });
    },
  );

  it("keeps a ban for strikes as long as the next ban would double it", async ({ expect }) => {
    const limiter = freshLimiter();
    const limits = { perMinute: 10, perDay: 1 };
    await admitAtOnce(limiter, limits, 2);
    setClock(NOON + 1_000);
    expect(await admitAtOnce(limiter, limits, 20)).toEqual({ limited: 19, banned: 1 });
    await firstReport(limiter);
    const endsAtMs = (await storedState(limiter))?.penalty.lastBan?.endsAtMs ?? 0;
    setClock(endsAtMs + DAY - 1);
    await runDurableObjectAlarm(limiter);
    expect((await storedState(limiter))?.penalty.lastBan).not.toBeNull();
    setClock(endsAtMs + 2 * DAY);
    await runDurableObjectAlarm(limiter);
    expect(await leftIn(limiter)).toEqual({ tables: 0, alarm: null });
  });
});

function leftIn(limiter: Limiter): Promise<{ tables: number; alarm: number | null }> {
  return runInDurableObject(limiter, async (_, { storage }) => ({
    tables: storage.sql.exec("select 1 from sqlite_master").toArray().length,
    alarm: await storage.getAlarm(),
  }));
}

describe("the count of a key", () => {
  it("is not changed by concurrent requests of another key", async ({ expect }) => {
    const keys = await Promise.all([30, 40].map((perMinute) => createKey({ perMinute })));
    const call = startApp();
    const statuses = keys.map(async ({ key }) => {
      const responses = await Promise.all(Array.from({ length: 50 }, () => call(LIST, { key })));
      return countOf(responses.map(({ status }) => status));
    });
    expect(await Promise.all(statuses)).toEqual([
      { 200: 30, 429: 20 },
      { 200: 40, 429: 10 },
    ]);
  });

  it("is shared by both secrets of a rotated key", async ({ expect }) => {
    const { id, key } = await createKey({ perMinute: 10 });
    const second = await addSecret(id);
    const call = startApp();
    const remaining: (string | null)[] = [];
    for (const secret of [key, second, second, key]) {
      remaining.push((await call(LIST, { key: secret })).headers.get("X-RateLimit-Remaining"));
    }
    expect(remaining).toEqual(["9", "8", "7", "6"]);
  });
});
