/**
 * What requests cost in rows written: the platform's dearest unit. Rows are counted for all objects together, so each
 * test waits for its own last save.
 */
import { evictDurableObject, listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { mintKey } from "../../../src/worker/auth/key-format.ts";
import { createKey } from "../../support/factories.ts";
import {
  admitAtOnce,
  BUSINESS,
  banNow,
  FREE,
  firstReport,
  freshLimiter,
  limiterOf,
  newIsolate,
  PRO,
  quietSave,
  rowsWrittenBy,
  setClock,
  storedState,
  withoutLog,
} from "./limiter-support.ts";

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

describe("rows written", () => {
  it("are at most 0.1 for each admitted request of a burst of 1,000 on Business, and none for a refused one", async ({
    expect,
  }) => {
    const limiter = freshLimiter();
    const admittedRows = await rowsWrittenBy(async () => {
      expect(await admitAtOnce(limiter, BUSINESS, 1_000)).toEqual({ admitted: 1_000 });
      await firstReport(limiter);
      await quietSave(limiter);
    });
    expect(admittedRows).toBeGreaterThan(5);
    expect(admittedRows).toBeLessThanOrEqual(100);

    const refusedRows = await rowsWrittenBy(async () => {
      expect(await admitAtOnce(limiter, BUSINESS, 1_000)).toEqual({ limited: 1_000 });
    });
    expect(refusedRows).toBe(0);
    // However many they were: that there was a refusal, and their number, is one row once it is quiet.
    expect(await rowsWrittenBy(() => quietSave(limiter))).toBe(1);
    expect((await storedState(limiter))?.refused).toBe(1_000);
  });

  it("are none for a request during a ban", async ({ expect }) => {
    const limiter = freshLimiter();
    // Its version known and its day reported, it has nothing else to save.
    await limiter.raiseMinVersion(1);
    await banNow(limiter, 300_000);
    await limiter.admit({ version: 1, limits: FREE });
    await firstReport(limiter);
    const rows = await rowsWrittenBy(async () => {
      expect(await admitAtOnce(limiter, FREE, 1_000)).toEqual({ banned: 1_000 });
    });
    expect(rows).toBe(0);
  });

  it("are none for a request that did not authenticate, nor does an object come to be", async ({
    expect,
  }) => {
    const call = newIsolate();
    const revoked = await createKey({ status: "revoked" });
    const expired = await createKey({ expiresAt: NOON / 1000 });
    const unknown = mintKey((count) => crypto.getRandomValues(new Uint8Array(count)));
    const rows = await rowsWrittenBy(async () => {
      const before = (await listDurableObjectIds(env.KEY_LIMITER)).length;
      for (const key of [null, "nonsense", `${unknown.slice(0, -1)}~`, unknown, revoked.key, expired.key]) {
        expect((await call(key)).status).toBe(401);
      }
      expect(await listDurableObjectIds(env.KEY_LIMITER)).toHaveLength(before);
    });
    expect(rows).toBe(0);
  });

  it("are none, and no table is made, for an operator's look at a key that was never used", async ({
    expect,
  }) => {
    const limiter = freshLimiter();
    expect((await limiter.inspect(FREE)).quota.minute.remaining).toBe(60);
    expect(await storedState(limiter)).toBeUndefined();
  });

  // The unit tests live through the whole day; here the object itself does through the hours around midnight.
  it("are one for each request of a slow client that is evicted in between, and nothing is lost", async ({
    expect,
  }) => {
    const limiter = limiterOf("key_of_a_slow_client"); // fixed, as its id decides when its alarm rings
    const firstAtMs = MIDNIGHT - 3_600_000;
    setClock(firstAtMs);
    await limiter.admit({ version: 1, limits: PRO });
    await firstReport(limiter);
    const requests = 480;
    const rows = await rowsWrittenBy(async () => {
      for (let i = 1; i < requests; i++) {
        await evictDurableObject(limiter);
        setClock(firstAtMs + i * 15_000);
        await limiter.admit({ version: 1, limits: PRO });
        if (i === requests / 2) await firstReport(limiter);
      }
    });
    expect((await limiter.inspect(PRO)).quota.day.remaining).toBe(PRO.perDay - requests / 2);
    // Two more when the day changes: the report was heard, and the next alarm.
    expect(rows).toBe(requests - 1 + 2);
  }, 20_000);
});
