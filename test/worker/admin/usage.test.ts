/** Usage by day: reported usage, and what the limiters have not reported yet. */
import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { MAX_LIMITERS_INSPECTED } from "../../../src/worker/admin/live-usage.ts";
import type { UsageOfDay } from "../../../src/worker/admin/usage-service.ts";
import { sumUsageOfYesterday } from "../../../src/worker/sum-usage.ts";
import { createKey, type TestKey } from "../../support/factories.ts";
import { type App, policyOf, setClock, startApp, startEachTestAt } from "../../support/worker.ts";
import {
  banByStrikes,
  countingLimiters,
  operatorOf,
  unreachableLimiters,
  untilStored,
} from "./admin-support.ts";

const T0 = Date.UTC(2036, 2, 1, 12);
const DAY = 86_400_000;

const app = startApp();
const operator = operatorOf(app);

startEachTestAt(T0);

type DayFigures = { day: string; admitted: number; refused: number; refusedWhileBanned: number };

async function usageOf(keyId: string, query = ""): Promise<DayFigures[]> {
  const { body } = await operator("GET", `/keys/${keyId}/usage${query}`);
  return body.days as DayFigures[]; // the body's documented shape
}

async function request({ key }: TestKey, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await app("/v1/nothing", { key });
}

async function usageOfDay(app: App, query = ""): Promise<UsageOfDay> {
  const { body } = await operatorOf(app)("GET", `/usage?${query}`);
  return body as unknown as UsageOfDay; // the type of this answer
}
const notLive = ({ keys }: UsageOfDay) => keys.flatMap((each) => (each.live ? [] : [each.keyId]));

describe("the usage of a key", () => {
  it("has 90 days, oldest first and today last, with zeros for days without usage", async ({ expect }) => {
    const key = await createKey();
    const days = await usageOf(key.id);
    expect(days).toHaveLength(90);
    expect(days[0]).toEqual({
      day: "2035-12-03",
      admitted: 0,
      refused: 0,
      refusedWhileBanned: 0,
      live: true,
    });
    expect(days.at(-1)?.day).toBe("2036-03-01");
    expect(new Set(days.map(({ day }) => day)).size).toBe(90);
    expect(await usageOf(key.id, "?days=2")).toMatchObject([{ day: "2036-02-29" }, { day: "2036-03-01" }]);
  });

  it("is live for today: it has every request immediately, admitted or refused", async ({ expect }) => {
    const key = await createKey({ perMinute: 1 });
    await banByStrikes(key, app, T0);
    await request(key, 3);
    expect(await usageOf(key.id, "?days=1")).toEqual([
      { day: "2036-03-01", admitted: 1, refused: 21, refusedWhileBanned: 3, live: true },
    ]);
    await request(key, 1);
    expect(await usageOf(key.id, "?days=1")).toMatchObject([{ refusedWhileBanned: 4 }]);
  });

  it("is still there after the limiter has deleted its state", async ({ expect }) => {
    const key = await createKey({ perMinute: 2, perDay: 9 });
    await request(key, 3);
    const limiter = env.KEY_LIMITER.getByName(key.id);
    const used = { day: "2036-03-01", admitted: 2, refused: 1, refusedWhileBanned: 0, live: true };

    setClock(T0 + DAY);
    expect(await runDurableObjectAlarm(limiter)).toBe(true);
    setClock(T0 + 3 * DAY);
    await runDurableObjectAlarm(limiter);
    const stored = await limiter.inspect(policyOf({ perMinute: 2, perDay: 9 }));
    expect(stored.days).toEqual([]);
    expect((await usageOf(key.id)).find(({ day }) => day === used.day)).toEqual(used);
    expect((await operator("GET", `/usage?day=${used.day}`)).body.keys).toContainEqual({
      keyId: key.id,
      keyName: "test",
      ownerName: null,
      ownerEmail: null,
      plan: "business",
      limits: { requestsPerMinute: 2, requestsPerDay: 9 },
      percent: 22.2,
      live: true,
      admitted: 2,
      refused: 1,
      refusedWhileBanned: 0,
    });
    expect((await operator("GET", `/keys/${key.id}`)).body).toMatchObject({ lastUsedDay: used.day });
  });

  it("of yesterday is final when the day is over, before it is reported", async ({ expect }) => {
    setClock(T0 + 5 * DAY);
    const key = await createKey();
    await request(key, 4);
    setClock(T0 + 5.5 * DAY);
    expect(await usageOf(key.id, "?days=2")).toMatchObject([{ admitted: 4 }, { admitted: 0 }]);
    expect((await operator("GET", "/usage?day=2036-03-06")).body.keys).toMatchObject([
      { keyId: key.id, admitted: 4 },
    ]);
    expect((await operator("GET", "/usage")).body).toMatchObject({ day: "2036-03-07", keys: [] });
  });
});

describe("the usage of a day", () => {
  it("lists keys by live figures, most used first", async ({ expect }) => {
    setClock(T0 + 10 * DAY);
    const [few, many, some] = [await createKey(), await createKey(), await createKey()];
    for (const [key, times] of [
      [few, 1],
      [many, 5],
      [some, 3],
    ] as const) {
      await request(key, times);
      await untilStored("select 1 from daily_usage where key_id = ?", key.id);
    }
    const { body } = await operator("GET", "/usage");
    expect(body).toMatchObject({
      day: "2036-03-11",
      keys: [
        { keyId: many.id, admitted: 5 },
        { keyId: some.id, admitted: 3 },
        { keyId: few.id, admitted: 1 },
      ],
    });
    const top = await operator("GET", "/usage?limit=1");
    expect(top.body.keys).toMatchObject([{ keyId: many.id }]);
  });

  it("in the past is the reported usage", async ({ expect }) => {
    const [a, b] = [await createKey(), await createKey()];
    const insert = env.DB.prepare("insert into daily_usage values ('2030-05-05', ?, ?, 0, 0, '[]', null)");
    await env.DB.batch([insert.bind(a.id, 7), insert.bind(b.id, 9)]);
    const { body } = await operator("GET", "/usage?day=2030-05-05");
    expect(body.keys).toMatchObject([
      { keyId: b.id, admitted: 9 },
      { keyId: a.id, admitted: 7 },
    ]);
  });

  it("marks figures of limiters that cannot be reached, until the day is final", async ({ expect }) => {
    const start = Date.parse("2037-06-01T18:00:00Z");
    setClock(start);
    const key = await createKey();
    await request(key, 1);
    await untilStored("select 1 from daily_usage where key_id = ?", key.id);
    const offline = startApp({ KEY_LIMITER: unreachableLimiters() });
    expect(notLive(await usageOfDay(offline))).toEqual([key.id]);
    expect(notLive(await usageOfDay(app))).toEqual([]);
    setClock(start + DAY);
    expect(notLive(await usageOfDay(offline, "day=2037-06-01"))).toEqual([key.id]);
    setClock(start + 2 * DAY);
    expect(notLive(await usageOfDay(offline, "day=2037-06-01"))).toEqual([]);
  });
});

describe("the pages of a day that is over", () => {
  it("have every key once, most used first, with its totals on each", async ({ expect }) => {
    const keys = await Promise.all(Array.from({ length: 7 }, () => createKey()));
    const insert = env.DB.prepare("insert into daily_usage values ('2030-05-06', ?, ?, 0, 0, '[]', null)");
    await env.DB.batch(keys.map(({ id }, i) => insert.bind(id, i % 3)));
    await sumUsageOfYesterday(env, Date.UTC(2030, 4, 7));
    setClock(Date.UTC(2030, 4, 20));
    const seen: { keyId: string; admitted: number }[] = [];
    for (let next = ""; next !== "null"; ) {
      const after = next === "" ? "" : `&after=${next}`;
      const { body } = await operator("GET", `/usage?day=2030-05-06&limit=3${after}`);
      expect(body).toMatchObject({ complete: true, total: { keyCount: 7, admitted: 6 } });
      seen.push(...(body.keys as typeof seen)); // the documented shape
      next = String(body.next);
    }
    expect(seen.map(({ admitted }) => admitted)).toEqual([2, 2, 1, 1, 0, 0, 0]);
    expect(new Set(seen.map(({ keyId }) => keyId))).toEqual(new Set(keys.map(({ id }) => id)));
  });

  it("go on in the same order of the same day only, and not today", async ({ expect }) => {
    const [{ id }, other] = [await createKey(), await createKey()];
    const insert = env.DB.prepare("insert into daily_usage values ('2030-05-08', ?, 1, 0, 0, '[]', null)");
    await env.DB.batch([insert.bind(id), insert.bind(other.id)]);
    const page = async (query: string) => operator("GET", `/usage?limit=1&${query}`);
    const { next } = (await page("day=2030-05-08")).body;
    expect((await page(`day=2030-05-08&after=${next}`)).status).toBe(200);
    for (const query of ["day=2030-05-08&sort=percent", "day=2030-05-09", ""]) {
      expect((await page(`${query}&after=${next}`)).status).toBe(400);
    }
    await request(other, 1);
    expect((await page("")).body).toMatchObject({ next: null });
    expect((await page("day=2030-05-08&sort=refused")).body).toMatchObject({ next: null });
  });
});

describe("listing the usage of many keys", () => {
  it("inspects every existing limiter, at most 20 at a time", async ({ expect }) => {
    const unused = await createKey();
    const keys = await Promise.all(Array.from({ length: 45 }, () => createKey({ used: true })));
    const { KEY_LIMITER, names, maxConcurrent } = countingLimiters();
    const { status } = await operatorOf(startApp({ KEY_LIMITER }))("GET", "/usage");
    expect(status).toBe(200);
    expect(names()).toEqual(expect.arrayContaining(keys.map(({ id }) => id)));
    expect(names()).not.toContain(unused.id);
    expect(maxConcurrent()).toBe(20);
  });
});

describe("the usage of more keys than limiters are inspected", () => {
  const today = "2037-05-05";

  // The last test: limiters of its keys would be inspected in others.
  it("marks figures that can be of the early morning", async ({ expect }) => {
    setClock(Date.parse(`${today}T18:00:00Z`));
    // All other keys were used more yesterday, so their limiters are inspected.
    const numbers = `with recursive n(i) as (select 0 union all select i + 1 from n where i < ${MAX_LIMITERS_INSPECTED})`;
    const insertUsage = (day: string, admitted: string, percent: string, where = "true") =>
      `insert into daily_usage ${numbers} select '${day}', 'key_many_' || i, ${admitted}, 0, 0, '[]', ${percent} from n where ${where}`;
    await env.DB.batch(
      [
        `insert into api_keys (id, name, plan, created_at, first_used_at) ${numbers} select 'key_many_' || i, 'k', 'free', 0, i from n`,
        insertUsage("2037-05-04", "200", "20.0", "i > 0"),
        insertUsage(today, "iif(i = 0, 50, 1)", "iif(i = 0, 10.0, 0.1)"),
      ].map((statement) => env.DB.prepare(statement)),
    );
    const { KEY_LIMITER } = countingLimiters();
    const byPercent = await usageOfDay(startApp({ KEY_LIMITER }), "sort=percent");
    expect(byPercent.complete).toBe(false);
    expect(byPercent.keys).toHaveLength(MAX_LIMITERS_INSPECTED);
    // The percent is that of today's limit, as for the other keys.
    expect(byPercent.keys[0]).toMatchObject({ keyId: "key_many_0", percent: 5, live: false });
    expect(notLive(byPercent)).toEqual(["key_many_0"]);
    const bans = await operatorOf(startApp({ KEY_LIMITER }))("GET", "/bans?state=live&limit=1");
    expect(bans.body.complete).toBe(false);
  });
});
