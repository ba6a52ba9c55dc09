/** The reports of limiters to D1: each key's daily usage and every ban, also after an outage of D1. */
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { openDatabase } from "../../../src/worker/db/database.ts";
import { writeUsageReport } from "../../../src/worker/db/usage-report-repository.ts";
import type { HourFigures } from "../../../src/worker/limiter/core/hours.ts";
import { createKey } from "../../support/factories.ts";
import {
  admit,
  admitAtOnce,
  captureLog,
  crash,
  eventually,
  firstReport,
  freshLimiter,
  type Limiter,
  limiterOf,
  pause,
  policyOf,
  setClock,
  storedState,
} from "../../support/worker.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 86_400_000;
const NOON = Date.UTC(2034, 6, 1, 12);
const MIDNIGHT = Date.UTC(2034, 6, 2);
const AFTER_MIDNIGHT = Date.UTC(2034, 6, 2, 0, 16);
const LIMITS = { perMinute: 10, perDay: 100 };

let log: ReturnType<typeof captureLog>;

beforeEach(() => {
  log = captureLog();
  setClock(NOON);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

async function usageOf(limiter: Limiter): Promise<unknown[]> {
  const { results } = await env.DB.prepare(
    "select day, admitted, refused, refused_while_banned from daily_usage where key_id = ? order by day",
  )
    .bind(limiter.id.name)
    .all();
  return results.map((row) => Object.values(row));
}

async function hoursOf(limiter: Limiter): Promise<unknown[]> {
  const { results } = await env.DB.prepare("select hours from daily_usage where key_id = ? order by day")
    .bind(limiter.id.name)
    .all<{ hours: string }>();
  return results.map(({ hours }) => JSON.parse(hours));
}

async function bansOf(limiter: Limiter): Promise<unknown[]> {
  const { results } = await env.DB.prepare(
    "select cause, strikes, ends_at - started_at as seconds from bans where key_id = ?",
  )
    .bind(limiter.id.name)
    .all();
  return results;
}

/** Renames the tables of reports while `body` runs, which fails as an outage of D1 does. */
async function withoutReportTables(body: () => Promise<void>): Promise<void> {
  await env.DB.exec("alter table daily_usage rename to daily_usage_away");
  await env.DB.exec("alter table bans rename to bans_away");
  try {
    await body();
  } finally {
    await env.DB.exec("alter table daily_usage_away rename to daily_usage");
    await env.DB.exec("alter table bans_away rename to bans");
  }
}

async function pollUntilBanned(limiter: Limiter): Promise<void> {
  await admitAtOnce(limiter, LIMITS, 11);
  setClock(Date.now() + 1_000);
  await admitAtOnce(limiter, LIMITS, 20);
}

describe("a day's usage", () => {
  it("is reported with its first request, and with its final figures once it is over", async ({ expect }) => {
    const limiter = freshLimiter();
    await admit(limiter, LIMITS);
    await firstReport(limiter);
    expect(await usageOf(limiter)).toEqual([["2034-07-01", 1, 0, 0]]);
    await admitAtOnce(limiter, LIMITS, 12);
    expect(await usageOf(limiter)).toEqual([["2034-07-01", 1, 0, 0]]);
    setClock(AFTER_MIDNIGHT);
    await runDurableObjectAlarm(limiter);
    expect(await usageOf(limiter)).toEqual([["2034-07-01", 10, 3, 0]]);
  });

  it("is reported by the next day's first request after the key's moment if that comes before the alarm", async ({
    expect,
  }) => {
    const limiter = freshLimiter();
    await admitAtOnce(limiter, LIMITS, 3);
    await firstReport(limiter);
    setClock(NOON + DAY);
    await admit(limiter, LIMITS);
    await eventually(async () => (await usageOf(limiter)).length === 2);
    expect(await usageOf(limiter)).toEqual([
      ["2034-07-01", 3, 0, 0],
      ["2034-07-02", 1, 0, 0],
    ]);
  });

  it("is reported once a day, also if the object is evicted before each request", async ({ expect }) => {
    let limiter = freshLimiter();
    await admit(limiter, LIMITS);
    await firstReport(limiter);
    await env.DB.prepare("delete from daily_usage where key_id = ?").bind(limiter.id.name).run();
    for (let i = 1; i <= 5; i++) {
      limiter = await crash(limiter);
      setClock(NOON + i * 15_000);
      await admit(limiter, LIMITS);
    }
    await limiter.inspect(policyOf(LIMITS));
    expect(await usageOf(limiter)).toEqual([]);
  });
});

describe("the hours of a day's usage", () => {
  it("are reported with the day, and add up to it", async ({ expect }) => {
    const limiter = freshLimiter();
    await admitAtOnce(limiter, LIMITS, 3);
    await firstReport(limiter);
    setClock(NOON + 3 * HOUR);
    await admitAtOnce(limiter, LIMITS, 12);
    setClock(AFTER_MIDNIGHT);
    await runDurableObjectAlarm(limiter);
    expect(await usageOf(limiter)).toEqual([["2034-07-01", 13, 2, 0]]);
    expect(await hoursOf(limiter)).toEqual([
      [
        [12, 3, 0, 0],
        [15, 10, 2, 0],
      ],
    ]);
  });

  it("are merged with those of an earlier report, hour by hour the higher figures", async ({ expect }) => {
    const { id } = await createKey({ perDay: 10 });
    const db = openDatabase(env.DB);
    const day = "2034-07-01";
    const write = (admitted: number, hours: HourFigures[]) =>
      writeUsageReport(db, id, [{ day, admitted, refused: 0, refusedWhileBanned: 0, hours }], []);
    const stored = () =>
      env.DB.prepare("select admitted, hours, percent from daily_usage where key_id = ?").bind(id).first();
    await write(3, [[9, 3, 0, 0]]);
    expect(await stored()).toEqual({ admitted: 3, hours: "[[9,3,0,0]]", percent: 30 });
    const later: HourFigures[] = [
      [9, 3, 1, 0],
      [10, 4, 0, 0],
    ];
    await write(7, later);
    await write(3, [[9, 3, 0, 0]]);
    await write(7, later);
    expect(await stored()).toEqual({ admitted: 7, hours: "[[9,3,1,0],[10,4,0,0]]", percent: 70 });
  });
});

describe("a day's report that comes after a later one, as after a crash", () => {
  it("lowers no figure, and the percentage is of the limit at the last report of the most requests", async ({
    expect,
  }) => {
    const { id } = await createKey({ perDay: 10 });
    const write = (...[admitted, refused, refusedWhileBanned]: [number, number, number]) =>
      writeUsageReport(
        openDatabase(env.DB),
        id,
        [{ day: "2034-07-01", admitted, refused, refusedWhileBanned, hours: [] }],
        [],
      );
    const stored = () =>
      env.DB.prepare(
        "select admitted, refused, refused_while_banned as banned, percent from daily_usage where key_id = ?",
      )
        .bind(id)
        .first();
    await write(4, 6, 5);
    await write(4, 5, 6);
    expect(await stored()).toEqual({ admitted: 4, refused: 6, banned: 6, percent: 40 });
    await env.DB.prepare("update api_keys set requests_per_day = 20 where id = ?").bind(id).run();
    await write(3, 7, 7);
    expect(await stored()).toEqual({ admitted: 4, refused: 7, banned: 7, percent: 40 });
    await write(4, 7, 7);
    expect(await stored()).toEqual({ admitted: 4, refused: 7, banned: 7, percent: 20 });
  });
});

describe("the D1 rows of a day's two reports, with their index entries", () => {
  it.for([
    { used: "less than 1 % of the limit", admitted: 9, refused: 0, rows: [3, 2] },
    { used: "1 % of the limit", admitted: 10, refused: 0, rows: [3, 3] },
    { used: "1 %, and was refused", admitted: 10, refused: 1, rows: [3, 4] },
  ])("are $rows for a key that used $used", async ({ admitted, refused, rows }, { expect }) => {
    const { id } = await createKey({ perDay: 1_000 });
    const written: number[] = [];
    const batch: D1Database["batch"] = async <Row>(statements: D1PreparedStatement[]) => {
      const results = await env.DB.batch<Row>(statements);
      written.push(results.reduce((sum, { meta }) => sum + meta.rows_written, 0));
      return results;
    };
    const db = openDatabase({ prepare: (query) => env.DB.prepare(query), batch });
    const day = { day: "2034-07-01", refusedWhileBanned: 0 };
    await writeUsageReport(db, id, [{ ...day, admitted: 1, refused: 0, hours: [[0, 1, 0, 0]] }], []);
    await writeUsageReport(db, id, [{ ...day, admitted, refused, hours: [[0, admitted, refused, 0]] }], []);
    expect(written).toEqual(rows);
  });
});

describe("just after midnight", () => {
  it("50 keys write no usage to D1, and at their alarm each writes two days at once", async ({ expect }) => {
    // Fixed names, none of which has its moment in the first five seconds of the day.
    const limiters = Array.from({ length: 50 }, (_, i) => limiterOf(`key_midnight_${i}`));
    const ids = JSON.stringify(limiters.map((limiter) => limiter.name));
    const stored = async () => {
      const { results } = await env.DB.prepare(
        `select day, sum(admitted) as admitted, count(*) as keys from daily_usage
         where key_id in (select value from json_each(?)) group by day order by day`,
      )
        .bind(ids)
        .all();
      return results.map((row) => Object.values(row));
    };
    for (const limiter of limiters) await admit(limiter, LIMITS);
    await Promise.all(limiters.map(firstReport));
    await Promise.all(limiters.map((limiter) => admit(limiter, LIMITS)));

    setClock(MIDNIGHT + 5_000);
    await Promise.all(limiters.map((limiter) => admit(limiter, LIMITS)));
    await pause(300);
    expect(await stored()).toEqual([["2034-07-01", 50, 50]]);
    const alarms = await Promise.all(limiters.map(alarmOf));
    expect(Math.min(...alarms)).toBeGreaterThan(MIDNIGHT + 5_000);
    expect(Math.max(...alarms)).toBeLessThan(MIDNIGHT + 15 * MINUTE);
    expect(new Set(alarms).size).toBeGreaterThan(45);

    for (const [i, limiter] of limiters.entries()) {
      setClock(alarms[i] ?? 0);
      await runDurableObjectAlarm(limiter);
      expect((await storedState(limiter))?.finishedDays).toEqual([]);
      expect((await storedState(limiter))?.reportedDayStartMs).toBe(MIDNIGHT);
      expect(await alarmOf(limiter)).toBe((alarms[i] ?? 0) + DAY);
    }
    expect(await stored()).toEqual([
      ["2034-07-01", 100, 50],
      ["2034-07-02", 50, 50],
    ]);
  });

  it("a ban is reported when it begins", async ({ expect }) => {
    setClock(MIDNIGHT);
    const limiter = freshLimiter();
    await pollUntilBanned(limiter);
    await eventually(async () => (await bansOf(limiter)).length > 0);
    expect(await usageOf(limiter)).toEqual([]);
  });
});

function alarmOf(limiter: Limiter): Promise<number> {
  return runInDurableObject(limiter, async (_, { storage }) => (await storage.getAlarm()) ?? 0);
}

describe("a ban", () => {
  it("is reported when it begins", async ({ expect }) => {
    const limiter = freshLimiter();
    await pollUntilBanned(limiter);
    await eventually(async () => (await bansOf(limiter)).length > 0);
    expect(await bansOf(limiter)).toEqual([{ cause: "strikes", strikes: 20, seconds: 300 }]);
  });
});

describe("during an outage of D1", () => {
  it("requests are admitted, and an alarm sends the pending report afterwards", async ({ expect }) => {
    const limiter = freshLimiter();
    await withoutReportTables(async () => {
      await pollUntilBanned(limiter);
      setClock(AFTER_MIDNIGHT);
      await runDurableObjectAlarm(limiter);
      expect((await storedState(limiter))?.finishedDays).toHaveLength(1);
      expect((await storedState(limiter))?.alarmAtMs).toBe(AFTER_MIDNIGHT + MINUTE);
    });
    const awake = await crash(limiter);
    setClock(AFTER_MIDNIGHT + MINUTE);
    expect(await runDurableObjectAlarm(awake)).toBe(true);
    expect(await usageOf(limiter)).toEqual([["2034-07-01", 10, 21, 0]]);
    expect(await bansOf(limiter)).toHaveLength(1);
  });

  it("a request 10 s later sends the pending report", async ({ expect }) => {
    const limiter = freshLimiter();
    await withoutReportTables(async () => {
      await admit(limiter, LIMITS);
      await eventually(async () => log.lines().some(({ event }) => event === "usage_report_failed"));
    });
    setClock(NOON + 10_000);
    await admit(limiter, LIMITS);
    await firstReport(limiter);
    expect(await usageOf(limiter)).toEqual([["2034-07-01", 2, 0, 0]]);
  });
});
