/**
 * The rows that requests write, which are billed per row. Rows are counted for all objects together, so each test waits
 * for its own last save.
 */
import { evictDurableObject, listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { mintKey } from "../../../src/worker/auth/key-format.ts";
import { NEW_LIMITER } from "../../../src/worker/limiter/core/limiter-state.ts";
import { usageDueAtMs } from "../../../src/worker/limiter/core/outbox.ts";
import { IDLE_FLUSH_MS } from "../../../src/worker/limiter/core/reservation.ts";
import { createKey } from "../../support/factories.ts";
import {
  admit,
  admitAtOnce,
  BUSINESS,
  countOf,
  FREE,
  firstReport,
  freshLimiter,
  idleFlush,
  LIST,
  type Limiter,
  limiterInUse,
  limiterOf,
  operatorBan,
  PRO,
  pause,
  policyOf,
  rowsWrittenBy,
  setClock,
  startApp,
  startEachTestAt,
  storedState,
} from "../../support/worker.ts";

const DAY = 86_400_000;
const MIDNIGHT = Date.UTC(2031, 0, 1);
const NOON = MIDNIGHT + DAY / 2;

startEachTestAt(NOON);

describe("rows written", () => {
  it("are at most 0.03 for each admitted request of a burst of 1,000 on Business, and none for a refused one", async ({
    expect,
  }) => {
    const limiter = freshLimiter();
    const admittedRows = await rowsWrittenBy(async () => {
      expect(await admitAtOnce(limiter, BUSINESS, 1_000)).toEqual({ admitted: 1_000 });
      await firstReport(limiter);
      await pause(IDLE_FLUSH_MS + 200);
    });
    expect(admittedRows).toBeGreaterThan(5);
    expect(admittedRows).toBeLessThanOrEqual(30);
    // The last requests of a limit reserve nothing, so there is nothing to flush.
    expect((await storedState(limiter))?.counts.minute.used).toBe(1_000);

    const refusedRows = await rowsWrittenBy(async () => {
      expect(await admitAtOnce(limiter, BUSINESS, 1_000)).toEqual({ limited: 1_000 });
    });
    expect(refusedRows).toBe(0);
    // All refusals together: one row with the next idle flush.
    expect(await rowsWrittenBy(() => idleFlush(limiter))).toBe(1);
    expect((await storedState(limiter))?.refused).toBe(1_000);
  });

  it.for([
    { bursts: [3, 5], rows: 3 + 4, flush: "no idle flush, as nothing is reserved at their end" },
    { bursts: [4], rows: 4 + 1, flush: "an idle flush" },
  ])("are $rows for bursts of $bursts requests on Pro: $flush", async ({ bursts, rows }, { expect }) => {
    const limiters: Limiter[] = [];
    for (const _ of bursts) limiters.push(await limiterInUse());
    const written = await rowsWrittenBy(async () => {
      for (const [i, limiter] of limiters.entries()) await admitAtOnce(limiter, PRO, bursts[i] ?? 0);
      await pause(IDLE_FLUSH_MS + 200);
    });
    expect(written).toBe(rows);
    for (const [i, limiter] of limiters.entries()) {
      await evictDurableObject(limiter);
      const { remaining } = (await limiter.inspect(policyOf(PRO))).quota.minute;
      expect(remaining).toBe(PRO.perMinute - (bursts[i] ?? 0));
    }
  });

  it("are one for all refusals during a ban until a pause, and an eviction loses none", async ({
    expect,
  }) => {
    const limiter = freshLimiter();
    const banned = { operatorBan: operatorBan(300_000) };
    await admit(limiter, FREE);
    await firstReport(limiter);
    const rows = await rowsWrittenBy(async () => {
      const verdicts = await Promise.all(Array.from({ length: 1_000 }, () => admit(limiter, FREE, banned)));
      expect(countOf(verdicts.map(({ kind }) => kind))).toEqual({ banned: 1_000 });
    });
    expect(rows).toBe(0);
    expect(await rowsWrittenBy(() => pause(2 * IDLE_FLUSH_MS))).toBe(1);
    await evictDurableObject(limiter);
    expect((await limiter.inspect(policyOf(FREE))).days).toMatchObject([{ refusedWhileBanned: 1_000 }]);
  });

  it("are none for a request that is not authenticated, and no object is created", async ({ expect }) => {
    const call = startApp();
    const revoked = await createKey({ status: "revoked" });
    const expired = await createKey({ expiresAt: NOON / 1000 });
    const unknown = mintKey((count) => crypto.getRandomValues(new Uint8Array(count)));
    const rows = await rowsWrittenBy(async () => {
      const before = (await listDurableObjectIds(env.KEY_LIMITER)).length;
      for (const key of ["", "nonsense", `${unknown.slice(0, -1)}~`, unknown, revoked.key, expired.key]) {
        expect((await call(LIST, { key })).status).toBe(401);
      }
      expect(await listDurableObjectIds(env.KEY_LIMITER)).toHaveLength(before);
    });
    expect(rows).toBe(0);
  });

  it("are none, and no table is created, when an operator inspects a key that was never used", async ({
    expect,
  }) => {
    const limiter = freshLimiter();
    expect((await limiter.inspect(policyOf(FREE))).quota.minute.remaining).toBe(60);
    expect(await storedState(limiter)).toBeUndefined();
  });

  // The unit tests simulate a whole day. This test has the real object, for the hours around midnight.
  it("are one per request of a slow client whose object is evicted in between, and nothing is lost", async ({
    expect,
  }) => {
    const limiter = limiterOf("key_of_a_slow_client"); // fixed, because its id determines when its alarm is due
    const firstAtMs = MIDNIGHT - 3_600_000;
    setClock(firstAtMs);
    await admit(limiter, PRO);
    await firstReport(limiter);
    const requests = 240;
    const state = await storedState(limiter);
    const reportDueAtMs = DAY + usageDueAtMs(state ?? NEW_LIMITER);
    let isReported = false;
    const rows = await rowsWrittenBy(async () => {
      for (let i = 1; i < requests; i++) {
        await evictDurableObject(limiter);
        setClock(firstAtMs + i * 30_000);
        await admit(limiter, PRO);
        if (!isReported && Date.now() >= reportDueAtMs) {
          await firstReport(limiter);
          isReported = true;
        }
      }
    });
    expect((await limiter.inspect(policyOf(PRO))).quota.day.remaining).toBe(PRO.perDay - requests / 2);
    // One more when the day changes: the acknowledged report. The alarm was set with the day's first request.
    expect(rows).toBe(requests - 1 + 1);
  }, 20_000);
});
