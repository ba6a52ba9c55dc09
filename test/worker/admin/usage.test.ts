/** Usage: what limiters report of each hour, and what operators see of it by day, hour, key and plan. */
import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import type { UsageOfDay } from "../../../src/worker/admin/usage/service.ts";
import { createKey, type TestKey } from "../../support/factories.ts";
import { limiterOf, setClock, startApp, startEachTestAt, watchLimiters } from "../../support/worker.ts";
import { banByStrikes, operatorOf, unreachableLimiters, withoutReportsTo } from "./admin-support.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Each test takes days of its own, because limiters and D1 are shared within the file. */
const T0 = Date.UTC(2037, 2, 1, 10);

const app = startApp();
const operator = operatorOf(app);

startEachTestAt(T0);

type Figures = { admitted: number; refused: number; refusedWhileBanned: number };
type Hour = Figures & { hour: string };

async function request({ key }: TestKey, times: number, atMs: number): Promise<void> {
  setClock(atMs);
  for (let i = 0; i < times; i++) await app("/v1/nothing", { key });
}

/** Runs the alarm of the key's object at the last minute in which an hour is reported. */
async function reportHourOf({ id }: TestKey, hourMs: number): Promise<void> {
  setClock(hourMs + 2 * HOUR - 60_000);
  await runDurableObjectAlarm(limiterOf(id));
}

const storedOf = async ({ id }: TestKey) =>
  (
    await env.DB.prepare("select hour, admitted, refused from usage where key_id = ? order by hour")
      .bind(id)
      .all()
  ).results;

async function usageOfDay(query: string): Promise<UsageOfDay> {
  const { body } = await operator("GET", `/usage?${query}`);
  return body as unknown as UsageOfDay; // the type of this answer
}

/** The hours that had requests, without the date: `10:00 1/2/0`. */
function shown(hours: unknown): string[] {
  return (hours as Hour[]) // the documented shape
    .filter((each) => each.admitted + each.refused + each.refusedWhileBanned > 0)
    .map((each) => `${each.hour.slice(11, 16)} ${each.admitted}/${each.refused}/${each.refusedWhileBanned}`);
}

/** Reported usage of this hour. */
async function insertUsage(hour: string, ...rows: [key: TestKey, admitted: number, refused?: number][]) {
  const insert = env.DB.prepare("insert into usage values (unixepoch(?), ?, ?, ?, 0, null)");
  await env.DB.batch(rows.map(([{ id }, admitted, refused = 0]) => insert.bind(hour, id, admitted, refused)));
}

describe("an hour", () => {
  it("is reported by the key's object in the next one, and again after a failure, with the same figures", async ({
    expect,
  }) => {
    const key = await createKey({ perMinute: 2 });
    await request(key, 3, T0);
    expect(await storedOf(key)).toEqual([]);
    await withoutReportsTo(["usage"], () => reportHourOf(key, T0));
    expect(await storedOf(key)).toEqual([]);
    await reportHourOf(key, T0);
    const hour = { hour: T0 / 1000, admitted: 2, refused: 1 };
    expect(await storedOf(key)).toEqual([hour]);
    await request(key, 1, T0 + 5 * HOUR);
    await reportHourOf(key, T0 + 5 * HOUR);
    expect(await storedOf(key)).toEqual([hour, { hour: (T0 + 5 * HOUR) / 1000, admitted: 1, refused: 0 }]);
  });

  it("of which a part was reported is replaced by the whole, never by less", async ({ expect }) => {
    const key = await createKey();
    await request(key, 2, T0 + DAY);
    await operator("GET", `/keys/${key.id}/usage`);
    await request(key, 3, T0 + DAY + 60_000);
    await reportHourOf(key, T0 + DAY);
    expect(await storedOf(key)).toMatchObject([{ admitted: 5 }]);
    await env.DB.prepare("update usage set admitted = 9 where key_id = ?").bind(key.id).run();
    await request(key, 1, T0 + DAY + 120_000); // a clock that ran backwards
    await operator("GET", `/keys/${key.id}/usage`);
    expect(await storedOf(key)).toMatchObject([{ admitted: 9 }]);
  });
});

describe("the usage of a key", () => {
  it("has 90 days, oldest first and today last, with zeros for days without usage", async ({ expect }) => {
    const { id } = await createKey();
    const { body } = await operator("GET", `/keys/${id}/usage`);
    const days = body.days as { day: string }[]; // the documented shape
    expect(body).toMatchObject({ keyId: id, hours: [], complete: true });
    expect(days[0]).toEqual({ day: "2036-12-02", admitted: 0, refused: 0, refusedWhileBanned: 0 });
    expect(days.at(-1)?.day).toBe("2037-03-01");
    expect(new Set(days.map(({ day }) => day)).size).toBe(90);
  });

  it("has every request at once, as the limiter is asked first, and hours that add up to the days", async ({
    expect,
  }) => {
    const start = T0 + 10 * DAY;
    const key = await createKey({ perMinute: 1 });
    await request(key, 1, start - 20 * HOUR);
    await banByStrikes(key, app, start);
    await request(key, 3, start + 2_000);
    const { body } = await operator("GET", `/keys/${key.id}/usage?days=2&hours=24`);
    expect(body.hours).toHaveLength(24);
    expect(shown(body.hours)).toEqual(["14:00 1/0/0", "10:00 1/20/4"]);
    expect(body.days).toEqual([
      { day: "2037-03-10", admitted: 1, refused: 0, refusedWhileBanned: 0 },
      { day: "2037-03-11", admitted: 1, refused: 20, refusedWhileBanned: 4 },
    ]);
    await request(key, 1, start + 3_000);
    const again = await operator("GET", `/keys/${key.id}/usage?days=1`);
    expect(again.body.days).toMatchObject([{ refusedWhileBanned: 5 }]);
    const unreachable = operatorOf(startApp({ KEY_LIMITER: unreachableLimiters() }));
    await request(key, 1, start + 4_000);
    expect((await unreachable("GET", `/keys/${key.id}/usage?days=1`)).body).toMatchObject({
      days: [{ refusedWhileBanned: 5 }],
      complete: false,
    });
  });

  it("has hours of a week at most, also further back than the days that are asked for", async ({
    expect,
  }) => {
    const key = await createKey();
    await request(key, 2, T0 + 20 * DAY);
    await request(key, 1, T0 + 23 * DAY);
    const { body } = await operator("GET", `/keys/${key.id}/usage?hours=100&days=1`);
    expect(shown(body.hours)).toEqual(["10:00 2/0/0", "10:00 1/0/0"]);
    expect(body.days).toMatchObject([{ day: "2037-03-24", admitted: 1 }]);
    expect((await operator("GET", `/keys/${key.id}/usage?hours=168&days=1`)).body.hours).toHaveLength(168);
    expect((await operator("GET", `/keys/${key.id}/usage?hours=169`)).status).toBe(400);
  });

  it("gives the key the day on which it was last used", async ({ expect }) => {
    const key = await createKey();
    await request(key, 1, T0 + 30 * DAY);
    await reportHourOf(key, T0 + 30 * DAY);
    expect((await operator("GET", `/keys/${key.id}`)).body.lastUsedDay).toBe("2037-03-31");
  });
});

describe("the usage of a day", () => {
  it("is what was reported, of all keys and of each plan, and asks no limiter", async ({ expect }) => {
    const [free, business, both] = [await createKey({ plan: "free" }), await createKey(), await createKey()];
    await insertUsage("2037-05-01T10:00:00Z", [free, 2], [business, 3]);
    await insertUsage("2037-05-01T15:00:00Z", [business, 4, 1], [both, 1]);
    await insertUsage("2037-05-02T00:00:00Z", [both, 100]);
    const limiters = watchLimiters();
    setClock(Date.UTC(2037, 4, 20));
    const { body } = await operatorOf(startApp({ KEY_LIMITER: limiters.KEY_LIMITER }))(
      "GET",
      "/usage?day=2037-05-01",
    );
    expect(limiters.addressed()).toEqual([]);
    expect(body).toMatchObject({
      day: "2037-05-01",
      sort: "admitted",
      asOf: "2037-05-02T00:00:00Z",
      next: null,
      total: { keyCount: 3, admitted: 10, refused: 1, refusedWhileBanned: 0 },
      plans: [
        { plan: "business", keyCount: 2, admitted: 8, refused: 1 },
        { plan: "free", keyCount: 1, admitted: 2, refused: 0 },
      ],
    });
    const { keys, total, plans } = body as unknown as UsageOfDay; // the type of this answer
    expect(keys[0]).toEqual({
      keyId: business.id,
      keyName: "test",
      ownerName: null,
      ownerEmail: null,
      plan: "business",
      limits: { requestsPerMinute: 1_000, requestsPerDay: 100_000 },
      percent: 0,
      admitted: 7,
      refused: 1,
      refusedWhileBanned: 0,
    });
    expect(total.hours).toHaveLength(24);
    expect(shown(total.hours)).toEqual(["10:00 5/0/0", "15:00 5/1/0"]);
    expect(plans.map(({ hours }) => shown(hours))).toEqual([["10:00 3/0/0", "15:00 5/1/0"], ["10:00 2/0/0"]]);
  });

  it("is today by default, as of the hour before the current one", async ({ expect }) => {
    setClock(Date.UTC(2037, 4, 5, 0, 30));
    const { body } = await operator("GET", "/usage");
    expect(body).toMatchObject({
      day: "2037-05-05",
      asOf: "2037-05-04T23:00:00Z",
      keys: [],
      total: { keyCount: 0 },
    });
  });

  it("has pages in each order, which have every key once and the same sums", async ({ expect }) => {
    const keys = await Promise.all(
      Array.from({ length: 7 }, (_, i) => createKey({ perMinute: 9, perDay: 10 + i })),
    );
    await insertUsage(
      "2037-06-01T10:00:00Z",
      ...keys.map((key, i): [TestKey, number, number] => [key, i % 3, i % 2]),
    );
    for (const sort of ["admitted", "refused", "percent"] as const) {
      const seen: UsageOfDay["keys"][number][] = [];
      for (let after = ""; ; ) {
        const page = await usageOfDay(`day=2037-06-01&sort=${sort}&limit=3${after}`);
        expect(page.total).toMatchObject({ keyCount: 7, admitted: 6, refused: 3 });
        seen.push(...page.keys);
        if (page.next === null) break;
        after = `&after=${page.next}`;
      }
      expect(new Set(seen.map(({ keyId }) => keyId)), sort).toEqual(new Set(keys.map(({ id }) => id)));
      const values = seen.map((each) => each[sort]);
      expect(values, sort).toEqual(values.toSorted((a, b) => b - a));
    }
    // Of 12, 11, and 15 requests a day.
    const [first] = (await usageOfDay("day=2037-06-01&sort=percent&limit=1")).keys;
    expect(first).toMatchObject({ percent: 16.7, limits: { requestsPerMinute: 9, requestsPerDay: 12 } });
  });

  it("has a cursor for the same order of the same day only", async ({ expect }) => {
    const keys = [await createKey(), await createKey()] as const;
    await insertUsage("2037-06-03T10:00:00Z", [keys[0], 1], [keys[1], 1]);
    const page = (query: string) => operator("GET", `/usage?limit=1&${query}`);
    const { next } = (await page("day=2037-06-03")).body;
    expect((await page(`day=2037-06-03&after=${next}`)).status).toBe(200);
    for (const query of ["day=2037-06-03&sort=percent", "day=2037-06-04", "sort=name"]) {
      expect((await page(`${query}&after=${next}`)).status, query).toBe(400);
    }
  });
});

describe("usage as CSV", () => {
  async function csv(path: string) {
    const response = await app(`/admin${path}`, { key: env.ADMIN_TOKEN });
    return { headers: response.headers, lines: (await response.text()).split("\r\n") };
  }

  it("has a row for each key of a day, and names its next page in the header Link", async ({ expect }) => {
    const [few, many] = [await createKey(), await createKey({ plan: "free" })];
    await insertUsage("2037-07-01T10:00:00Z", [few, 1], [many, 500, 2]);
    const first = await csv("/usage?day=2037-07-01&format=csv&limit=1");
    expect(first.headers.get("Content-Type")).toBe("text/csv; charset=utf-8; header=present");
    expect(first.headers.get("Content-Disposition")).toBe('attachment; filename="usage-2037-07-01.csv"');
    expect(first.lines).toEqual([
      "day,keyId,keyName,ownerName,ownerEmail,plan,requestsPerMinute,requestsPerDay,percent,admitted,refused,refusedWhileBanned",
      `2037-07-01,${many.id},test,,,free,60,1000,50,500,2,0`,
      "",
    ]);
    const next = /^<\/admin(.+)>; rel="next"$/.exec(first.headers.get("Link") ?? "")?.[1] ?? "";
    expect((await csv(next)).lines[1]).toContain(few.id);
    const byHour = await csv("/usage?day=2037-07-01&format=csv&by=hour&limit=1");
    expect(byHour.headers.get("Link")).toBeNull();
    expect(byHour.lines).toContain("all,2037-07-01T10:00:00Z,501,2,0");
    expect(byHour.lines).toContain("free,2037-07-01T10:00:00Z,500,2,0");
    expect(byHour.lines).toHaveLength(1 + 3 * 24 + 1);
  });

  it("has a row for each day of a key, or for each hour", async ({ expect }) => {
    setClock(Date.UTC(2037, 6, 10, 12));
    const key = await createKey();
    await insertUsage("2037-07-10T11:00:00Z", [key, 3, 1]);
    expect((await csv(`/keys/${key.id}/usage?days=2&format=csv`)).lines).toEqual([
      "day,admitted,refused,refusedWhileBanned",
      "2037-07-09,0,0,0",
      "2037-07-10,3,1,0",
      "",
    ]);
    expect((await csv(`/keys/${key.id}/usage?hours=2&format=csv`)).lines).toEqual([
      "hour,admitted,refused,refusedWhileBanned",
      "2037-07-10T11:00:00Z,3,1,0",
      "2037-07-10T12:00:00Z,0,0,0",
      "",
    ]);
  });

  it("leaves an error as it is", async ({ expect }) => {
    const { status, body } = await operator("GET", "/keys/key_unknown/usage?format=csv");
    expect([status, body.code]).toEqual([404, "not_found"]);
    expect((await operator("GET", "/usage?format=xml")).status).toBe(400);
  });
});
