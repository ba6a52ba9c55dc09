import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { sumUsageOfYesterday } from "../../../src/worker/sum-usage.ts";
import { createKey, type TestKey } from "../../support/factories.ts";
import { setClock, startApp, startEachTestAt } from "../../support/worker.ts";
import { banByStrikes, operatorOf, unreachableLimiters, untilStored } from "./admin-support.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Each test takes days of its own, because limiters and D1 are shared within the file. */
const T0 = Date.UTC(2037, 2, 1, 10);

const app = startApp();
const operator = operatorOf(app);

startEachTestAt(T0);

type HourUsage = { hour: string; admitted: number; refused: number; refusedWhileBanned: number };

/** The hours that had requests, without the date: `10:00 1/2/0`. */
function shown(hours: unknown): string[] {
  return (hours as HourUsage[]) // the documented shape
    .filter((each) => each.admitted + each.refused + each.refusedWhileBanned > 0)
    .map((each) => `${each.hour.slice(11, 16)} ${each.admitted}/${each.refused}/${each.refusedWhileBanned}`);
}

async function request({ id, key }: TestKey, times: number, atMs: number): Promise<void> {
  setClock(atMs);
  for (let i = 0; i < times; i++) await app("/v1/nothing", { key });
  await untilStored("select 1 from daily_usage where key_id = ?", id);
}

describe("the last hours of a key", () => {
  it("are live, the current one last, and add up to the days", async ({ expect }) => {
    const key = await createKey({ perMinute: 1 });
    await request(key, 1, T0 - 20 * HOUR);
    await banByStrikes(key, app, T0);
    await request(key, 3, T0 + 1_000);
    const { body } = await operator("GET", `/keys/${key.id}/usage?days=2&hours=24`);
    const hours = body.hours as HourUsage[]; // the documented shape
    expect(hours).toHaveLength(24);
    expect(hours[0]).toEqual({
      hour: "2037-02-28T11:00:00Z",
      admitted: 0,
      refused: 0,
      refusedWhileBanned: 0,
      live: true,
    });
    expect(hours.at(-1)?.hour).toBe("2037-03-01T10:00:00Z");
    expect(shown(hours)).toEqual(["14:00 1/0/0", "10:00 1/21/3"]);
    expect(body.days).toEqual([
      { day: "2037-02-28", admitted: 1, refused: 0, refusedWhileBanned: 0, live: true },
      { day: "2037-03-01", admitted: 1, refused: 21, refusedWhileBanned: 3, live: true },
    ]);
  });

  it("are none unless asked for, and at most those of a week", async ({ expect }) => {
    const { id } = await createKey();
    expect((await operator("GET", `/keys/${id}/usage`)).body.hours).toEqual([]);
    expect((await operator("GET", `/keys/${id}/usage?hours=168&days=1`)).body.hours).toHaveLength(168);
    expect((await operator("GET", `/keys/${id}/usage?hours=169`)).status).toBe(400);
  });

  it("go back further than the days that are asked for", async ({ expect }) => {
    const key = await createKey();
    await request(key, 2, T0);
    await request(key, 1, T0 + 3 * DAY);
    const { body } = await operator("GET", `/keys/${key.id}/usage?hours=100&days=1`);
    expect(shown(body.hours)).toEqual(["10:00 2/0/0", "10:00 1/0/0"]);
    expect(body.days).toMatchObject([{ day: "2037-03-04", admitted: 1 }]);
  });

  it("of days that are over are the reported ones, also when the limiter cannot be reached", async ({
    expect,
  }) => {
    const key = await createKey();
    await request(key, 2, T0);
    await request(key, 3, T0 + 2 * HOUR);
    await request(key, 1, T0 + DAY);
    await untilStored("select 1 from daily_usage where key_id = ? and admitted = 5", key.id);
    const offline = operatorOf(startApp({ KEY_LIMITER: unreachableLimiters() }));
    const { body } = await offline("GET", `/keys/${key.id}/usage?hours=48`);
    expect(shown(body.hours)).toEqual(["10:00 2/0/0", "12:00 3/0/0", "10:00 1/0/0"]);
  });
});

describe("the hours of a day", () => {
  it("are live: of all keys and of each plan", async ({ expect }) => {
    const atMs = T0 + 10 * DAY;
    const [free, business] = [await createKey({ plan: "free" }), await createKey()];
    await request(free, 2, atMs);
    await request(business, 3, atMs);
    await request(business, 4, atMs + 5 * HOUR);
    const { body } = await operator("GET", "/usage");
    expect(body).toMatchObject({
      complete: true,
      total: { keyCount: 2, admitted: 9, refused: 0, refusedWhileBanned: 0 },
      plans: [
        { plan: "business", keyCount: 1, admitted: 7 },
        { plan: "free", keyCount: 1, admitted: 2 },
      ],
    });
    const total = body.total as { hours: HourUsage[] }; // the documented shape
    const plans = body.plans as { hours: HourUsage[] }[];
    expect(total.hours).toHaveLength(24);
    expect(shown(total.hours)).toEqual(["10:00 5/0/0", "15:00 4/0/0"]);
    expect(plans.map(({ hours }) => shown(hours))).toEqual([["10:00 3/0/0", "15:00 4/0/0"], ["10:00 2/0/0"]]);
  });

  it("in the past are the sums of the cron, of all keys, however few are shown", async ({ expect }) => {
    const keys = await Promise.all([1, 2, 3].map(() => createKey()));
    const insert = env.DB.prepare("insert into daily_usage values ('2030-06-01', ?, ?, 1, 0, ?, 10)");
    await env.DB.batch(keys.map(({ id }, i) => insert.bind(id, i, JSON.stringify([[10 + i, i, 1, 0]]))));
    await sumUsageOfYesterday(env, Date.UTC(2030, 5, 2, 1));
    setClock(Date.UTC(2030, 5, 20));
    const { body } = await operator("GET", "/usage?day=2030-06-01&limit=1");
    expect(body).toMatchObject({ complete: true, total: { keyCount: 3, admitted: 3, refused: 3 } });
    expect(body.keys).toHaveLength(1);
    expect(shown((body.total as { hours: unknown }).hours)).toEqual([
      "10:00 0/1/0",
      "11:00 1/1/0",
      "12:00 2/1/0",
    ]);
  });

  it("are not complete while a limiter cannot be reached", async ({ expect }) => {
    await request(await createKey(), 1, T0 + 20 * DAY);
    const offline = operatorOf(startApp({ KEY_LIMITER: unreachableLimiters() }));
    const { body } = await offline("GET", "/usage");
    expect(body).toMatchObject({ complete: false, total: { keyCount: 1, admitted: 1 } });
  });
});

describe("the keys of a day", () => {
  it("are sorted by percent of their limit, admitted or refused requests, live", async ({ expect }) => {
    const atMs = T0 + 30 * DAY;
    const near = await createKey({ perMinute: 1_000, perDay: 3 });
    const most = await createKey({ perMinute: 1_000, perDay: 50 });
    const refused = await createKey({ perMinute: 1, perDay: 100 });
    await request(near, 2, atMs);
    await request(most, 4, atMs);
    await request(refused, 3, atMs);
    const ids = async (sort: string) =>
      ((await operator("GET", `/usage?sort=${sort}`)).body.keys as { keyId: string }[]) // the documented shape
        .map(({ keyId }) => keyId);
    expect(await ids("percent")).toEqual([near.id, most.id, refused.id]);
    expect(await ids("admitted")).toEqual([most.id, near.id, refused.id]);
    expect(await ids("refused")).toEqual([refused.id, most.id, near.id]);
    const { body } = await operator("GET", "/usage?sort=percent&limit=1");
    expect(body).toMatchObject({
      sort: "percent",
      keys: [{ keyId: near.id, percent: 66.7, limits: { requestsPerMinute: 1_000, requestsPerDay: 3 } }],
    });
    expect((await operator("GET", "/usage?sort=name")).status).toBe(400);
  });

  it("in the past are sorted by the reported figures, the keys without refusals last", async ({ expect }) => {
    const [a, b, c] = await Promise.all([createKey(), createKey(), createKey()]);
    const insert = env.DB.prepare("insert into daily_usage values ('2030-07-01', ?, ?, ?, 0, '[]', ?)");
    await env.DB.batch([
      insert.bind(a.id, 10, 5, 1),
      insert.bind(b.id, 20, 0, 90),
      insert.bind(c.id, 30, 0, null),
    ]);
    const ids = async (query: string) =>
      ((await operator("GET", `/usage?day=2030-07-01&${query}`)).body.keys as { keyId: string }[]) // the documented shape
        .map(({ keyId }) => keyId);
    expect(await ids("sort=percent")).toEqual([b.id, a.id, c.id]);
    expect(await ids("sort=refused")).toEqual([a.id, c.id, b.id]);
    expect(await ids("sort=refused&limit=2")).toEqual([a.id, c.id]);
  });
});

describe("usage as CSV", () => {
  async function csv(path: string): Promise<{ lines: string[]; headers: Headers }> {
    const response = await app(`/admin${path}`, { headers: { Authorization: `Bearer ${env.ADMIN_TOKEN}` } });
    const text = await response.text();
    return { lines: text.split("\r\n"), headers: response.headers };
  }

  it("of a day has a row for each key, with a name that begins like a formula guarded", async ({
    expect,
  }) => {
    const { id } = await createKey();
    await env.DB.batch([
      env.DB.prepare("update api_keys set name = ? where id = ?").bind('=cmd("x"),1', id),
      env.DB.prepare("insert into daily_usage values ('2030-08-01', ?, 7, 1, 2, '[]', 0.5)").bind(id),
    ]);
    const { lines, headers } = await csv("/usage?day=2030-08-01&format=csv");
    expect(lines).toEqual([
      "day,keyId,keyName,ownerName,ownerEmail,plan,requestsPerMinute,requestsPerDay,percent,admitted,refused,refusedWhileBanned,live",
      `2030-08-01,${id},"'=cmd(""x""),1",,,business,1000,100000,0.5,7,1,2,true`,
      "",
    ]);
    expect(headers.get("Content-Type")).toBe("text/csv; charset=utf-8; header=present");
    expect(headers.get("Content-Disposition")).toBe('attachment; filename="usage-2030-08-01.csv"');
    expect(headers.get("Cache-Control")).toBe("no-store");
  });

  it("of a day by hour has 24 rows of all keys, then of each plan", async ({ expect }) => {
    const { id } = await createKey({ plan: "pro" });
    await env.DB.prepare("insert into daily_usage values ('2030-08-02', ?, 7, 1, 2, '[[23,7,1,2]]', 0.5)")
      .bind(id)
      .run();
    const { lines } = await csv("/usage?day=2030-08-02&format=csv&by=hour");
    expect(lines).toHaveLength(1 + 24 + 24 + 1);
    expect(lines.slice(0, 2)).toEqual([
      "plan,hour,admitted,refused,refusedWhileBanned,complete",
      "all,2030-08-02T00:00:00Z,0,0,0,false",
    ]);
    expect(lines.at(-2)).toBe("pro,2030-08-02T23:00:00Z,7,1,2,false");
  });

  it("of a key has a row for each day, or for each hour that is asked for", async ({ expect }) => {
    const { id } = await createKey();
    expect((await csv(`/keys/${id}/usage?format=csv&days=1`)).lines).toEqual([
      "day,admitted,refused,refusedWhileBanned,live",
      "2037-03-01,0,0,0,true",
      "",
    ]);
    const { lines } = await csv(`/keys/${id}/usage?format=csv&hours=2`);
    expect(lines.slice(1)).toEqual([
      "2037-03-01T09:00:00Z,0,0,0,true",
      "2037-03-01T10:00:00Z,0,0,0,true",
      "",
    ]);
  });

  it("of a day names its next page in the header Link", async ({ expect }) => {
    const keys = [await createKey(), await createKey()];
    const insert = env.DB.prepare("insert into daily_usage values ('2030-08-03', ?, ?, 0, 0, '[]', null)");
    await env.DB.batch(keys.map(({ id }, i) => insert.bind(id, i)));
    const first = await csv("/usage?day=2030-08-03&format=csv&limit=1");
    expect(first.lines[1]).toContain(keys[1]?.id);
    const next = /^<\/admin(.+)>; rel="next"$/.exec(first.headers.get("Link") ?? "")?.[1] ?? "";
    expect((await csv(next)).lines[1]).toContain(keys[0]?.id);
    expect((await csv("/usage?day=2030-08-03&format=csv")).headers.get("Link")).toBeNull();
    const byHour = await csv("/usage?day=2030-08-03&format=csv&by=hour&limit=1");
    expect(byHour.headers.get("Link"), "the hours have no pages").toBeNull();
  });

  it("leaves an error as it is", async ({ expect }) => {
    const { status, body } = await operator("GET", "/keys/key_unknown/usage?format=csv");
    expect([status, body.code]).toEqual([404, "not_found"]);
    expect((await operator("GET", "/usage?format=xml")).status).toBe(400);
  });
});
