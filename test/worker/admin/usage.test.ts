/** Usage: what limiters report of each day, and what operators see by hour, day, key, customer and plan. */
import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import Papa from "papaparse";
import { afterEach, describe, it, vi } from "vitest";
import { reportAgain } from "../../../src/worker/admin/usage/ask-limiters.ts";
import { runs } from "../../support/deep.ts";
import { createKey, giveKeys, type TestKey } from "../../support/factories.ts";
import { limiterOf, setClock, startApp, startEachTestAt, watchLimiters } from "../../support/worker.ts";
import { banByStrikes, operatorOf, unreachableLimiters, withoutReportsTo } from "./admin-support.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Each test takes days of its own, because limiters and D1 are shared within the file. */
const T0 = Date.UTC(2037, 2, 1, 10);

const app = startApp();
const operator = operatorOf(app);

startEachTestAt(T0);
// What could not be reported in a test would bound the figures of the next one.
afterEach(() => reportAgain(env));

type Figures = { admitted: number; refused: number; refusedWhileBanned: number };
type Row = Figures & {
  start?: string;
  keyId?: string;
  keyName?: string;
  customer?: { name: string } | null;
  plan?: string;
  percent?: number;
  keyCount?: number;
  refusedMinutes?: { at: string; by: Record<string, number> }[];
};
type Usage = {
  from: string;
  to: string;
  asOf: string;
  rows: Row[];
  total: Figures & { keyCount: number };
  next: string | null;
};

async function usage(path: string): Promise<Usage> {
  const { body } = await operator("GET", path);
  return body as unknown as Usage; // the documented shape
}

async function request({ key }: TestKey, times: number, atMs: number): Promise<void> {
  setClock(atMs);
  for (let i = 0; i < times; i++) await app("/v1/nothing", { key });
}

/** Runs the alarm of the key's object at the last minute in which an hour is reported. */
async function reportHourOf({ id }: TestKey, hourMs: number): Promise<void> {
  setClock(hourMs + 2 * HOUR - 60_000);
  await runDurableObjectAlarm(limiterOf(id));
}

async function storedOf({ id }: TestKey) {
  const select = env.DB.prepare(
    "select date(day, 'unixepoch') as day, admitted, refused, limit_per_day as `limit`, hours from usage where key_id = ? order by day",
  );
  const { results } = await select
    .bind(id)
    .all<{ day: string; admitted: number; refused: number; limit: number; hours: string }>();
  return results.map((row) => ({ ...row, hours: JSON.parse(row.hours) as unknown[] }));
}

/** Admitted, refused, refused while banned, and the refused minutes; a number if nothing was refused. */
type StoredHour = number | readonly [number, number, number, object];

/** Reported usage of a UTC day, by the hour of the day. The key's limit is 1,000. */
async function insertUsage(day: string, ...rows: [key: TestKey, hours: Record<number, StoredHour>][]) {
  const insert = env.DB.prepare(
    "insert into usage select unixepoch(?1), id, customer_id, plan, ?3, ?4, ?5, 1000, '{}', ?6 from api_keys where id = ?2",
  );
  const statements = rows.map(([{ id }, hours]) => {
    const all = Array.from({ length: 24 }, (_, hour) => hours[hour] ?? 0);
    const sums = [0, 1, 2].map((i) =>
      all.reduce((sum: number, each) => sum + Number([each].flat()[i] ?? 0), 0),
    );
    return insert.bind(day, id, ...sums, JSON.stringify(all));
  });
  await env.DB.batch(statements);
}

describe("a report", () => {
  it("of the first request comes at once, and the rest each hour, also after a failure, merged into the day", async ({
    expect,
  }) => {
    const key = await createKey({ perMinute: 2, perDay: 100 });
    await request(key, 1, T0);
    await vi.waitFor(async () => expect(await storedOf(key)).toMatchObject([{ admitted: 1, refused: 0 }]));
    await request(key, 2, T0);
    await withoutReportsTo(["usage"], () => reportHourOf(key, T0));
    expect(await storedOf(key)).toMatchObject([{ admitted: 1, refused: 0 }]);
    await reportHourOf(key, T0 + HOUR);
    const ten = [2, 1, 0, { 0: { minute: 1 } }];
    const hours = [...Array<number>(10).fill(0), ten];
    const day = { day: "2037-03-01", admitted: 2, refused: 1, limit: 100, hours };
    expect(await storedOf(key)).toEqual([day]);
    await operator("PATCH", `/keys/${key.id}`, { requestsPerDay: 200 });
    await request(key, 1, T0 + 2 * HOUR);
    await operator("PATCH", `/keys/${key.id}`, { requestsPerDay: 300 });
    await request(key, 1, T0 + 3 * HOUR);
    await request(key, 2, T0 + 14 * HOUR);
    await reportHourOf(key, T0 + 14 * HOUR);
    expect(await storedOf(key)).toEqual([
      { ...day, admitted: 4, limit: 300, hours: [...hours, 0, 1, 1] },
      { day: "2037-03-02", admitted: 2, refused: 0, limit: 300, hours: [2] },
    ]);
    expect((await operator("GET", `/keys/${key.id}`)).body).toMatchObject({
      lastUsedDay: "2037-03-02",
      live: { lastUsedAt: "2037-03-02T00:00:00Z" },
    });
  });

  it("raises the figures of an hour, never lowers them, and changes nothing the second time", async ({
    expect,
  }) => {
    const key = await createKey({ perMinute: 2 });
    await request(key, 2, T0 + DAY);
    await operator("GET", `/keys/${key.id}/usage`);
    await request(key, 3, T0 + DAY + 60_000);
    await reportHourOf(key, T0 + DAY);
    const [stored] = await storedOf(key);
    expect(stored).toMatchObject({ admitted: 4, refused: 1 });
    const hours = JSON.stringify([...Array<number>(10).fill(0), [9, 2, 0, { 1: { minute: 2 } }], 7]);
    const update =
      "update usage set admitted = 16, refused = 2, limit_per_day = 5, hours = ? where key_id = ?";
    await env.DB.prepare(update).bind(hours, key.id).run();
    await request(key, 1, T0 + DAY + 120_000); // a clock that ran backwards
    await operator("GET", `/keys/${key.id}/usage`);
    expect(await storedOf(key)).toEqual([
      { ...stored, admitted: 16, refused: 2, limit: 5, hours: JSON.parse(hours) },
    ]);
    await request(key, 1, T0 + DAY + 2 * HOUR);
    await operator("GET", `/keys/${key.id}/usage`);
    const [later] = await storedOf(key);
    expect(later).toMatchObject({ admitted: 17, refused: 2, limit: stored?.limit });
    expect(later?.hours).toEqual([...JSON.parse(hours), 1]);
  });
});

describe("the usage of a key", () => {
  it("has every request at once, as the limiter is asked first, and every minute with refusals", async ({
    expect,
  }) => {
    const start = T0 + 10 * DAY + 42 * 60_000;
    const key = await createKey({ perMinute: 1 });
    await request(key, 1, start - 20 * HOUR);
    await banByStrikes(key, app, start);
    await request(key, 3, start + 22_000);
    const path = `/keys/${key.id}/usage`;
    const byHour = await usage(`${path}?by=hour&from=23h`);
    expect(byHour.rows).toHaveLength(24);
    expect(byHour.rows.filter(({ admitted }) => admitted > 0)).toEqual([
      { start: "2037-03-10T14:00:00Z", admitted: 1, refused: 0, refusedWhileBanned: 0, refusedMinutes: [] },
      {
        start: "2037-03-11T10:00:00Z",
        admitted: 1,
        refused: 20,
        refusedWhileBanned: 4,
        refusedMinutes: [{ at: "2037-03-11T10:42:00Z", by: { minute: 20, ban: 4 } }],
      },
    ]);
    expect(byHour).toMatchObject({ keyId: key.id, asOf: "2037-03-11T10:42:22Z" });
    await request(key, 1, start + 23_000);
    expect(await usage(`${path}?from=1d`)).toMatchObject({
      rows: [
        { start: "2037-03-10", admitted: 1 },
        { start: "2037-03-11", refusedWhileBanned: 5 },
      ],
      total: { admitted: 2, refused: 20, refusedWhileBanned: 5 },
    });
    const unreachable = operatorOf(startApp({ KEY_LIMITER: unreachableLimiters() }));
    await request(key, 1, start + 4_000);
    expect((await unreachable("GET", path)).body).toMatchObject({
      total: { refusedWhileBanned: 5 },
      asOf: "2037-03-11T09:00:00Z",
    });
  });
});

describe("the usage of a range", () => {
  it("is what was reported, from the first hour on and before the last, and asks no limiter", async ({
    expect,
  }) => {
    const [few, many] = [await createKey({ perDay: 100 }), await createKey({ plan: "free" })];
    await insertUsage("2037-04-30", [few, { 23: 1_000 }]);
    await insertUsage("2037-05-01", [few, { 0: [100, 1, 0, {}] }]);
    await insertUsage("2037-05-02", [few, { 22: 50, 23: 1 }], [many, { 22: 200 }]);
    await insertUsage("2037-05-03", [few, { 0: 1_000 }]);
    const limiters = watchLimiters();
    setClock(Date.UTC(2037, 4, 20));
    const watched = operatorOf(startApp({ KEY_LIMITER: limiters.KEY_LIMITER }));
    const path = "/usage?from=2037-05-01T00:59:00Z&to=2037-05-02T22:01:00Z";
    expect((await watched("GET", path)).body).toEqual({
      from: "2037-05-01T00:00:00Z",
      to: "2037-05-03T00:00:00Z",
      by: "key",
      completeFrom: "2037-05-01T00:00:00Z",
      asOf: "2037-05-03T00:00:00Z",
      unreachable: [],
      rows: [
        expect.objectContaining({ keyId: many.id, admitted: 200, percent: 10 }),
        {
          keyId: few.id,
          keyName: "test",
          customer: null,
          status: "active",
          plan: "business",
          limits: { requestsPerMinute: 1_000, requestsPerDay: 100 },
          percent: 7.5,
          daysNear: 0,
          peakPercent: 10,
          admitted: 151,
          refused: 1,
          refusedWhileBanned: 0,
        },
      ],
      total: { keyCount: 2, admitted: 351, refused: 1, refusedWhileBanned: 0 },
      next: null,
    });
    expect(limiters.addressed()).toEqual([]);
    const hours = await usage(`${path}&by=hour`);
    expect(hours).toMatchObject({ to: "2037-05-02T23:00:00Z", total: { admitted: 350 } });
    expect(hours.rows).toHaveLength(47);
    expect([hours.rows[0], hours.rows[1], hours.rows.at(-1)]).toMatchObject([
      { start: "2037-05-01T00:00:00Z", admitted: 100, refused: 1 },
      { start: "2037-05-01T01:00:00Z", admitted: 0 },
      { start: "2037-05-02T22:00:00Z", admitted: 250 },
    ]);
    expect((await usage(`${path}&by=day`)).rows).toMatchObject([
      { start: "2037-05-01", admitted: 100 },
      { start: "2037-05-02", admitted: 251 },
    ]);
  });

  it("says from when on it is complete: not before the first kept day, nor before the first use", async ({
    expect,
  }) => {
    await env.DB.exec("delete from usage");
    setClock(Date.UTC(2038, 0, 1, 12));
    const key = await createKey();
    const completeFrom = async (query: string) =>
      Promise.all(
        ["/usage", `/usage?by=day`, `/keys/${key.id}/usage`, "/customers"].map(async (path) => {
          const { body } = await operator("GET", `${path}${path.includes("?") ? "&" : "?"}${query}`);
          return String(body.completeFrom).slice(0, 10);
        }),
      );
    const everywhere = (day: string) => Array.from({ length: 4 }, () => day);
    expect(await completeFrom("from=6d")).toEqual(everywhere("2037-12-26"));
    await insertUsage("2036-11-27", [key, { 12: 1 }]); // the next cron deletes it
    expect(await completeFrom("from=400d")).toEqual(everywhere("2036-11-28"));
    await env.DB.exec("delete from usage");
    await insertUsage("2037-12-30", [key, { 12: 1 }]);
    expect(await completeFrom("from=6d")).toEqual(everywhere("2037-12-30"));
    expect(await completeFrom("from=2037-10-01&to=2037-11-01")).toEqual(everywhere("2037-12-30"));
    expect(await completeFrom("from=1d")).toEqual(everywhere("2037-12-31"));
  });

  it("is today by default; times can be relative", async ({ expect }) => {
    setClock(Date.UTC(2037, 4, 25, 0, 30));
    expect(await usage("/usage")).toMatchObject({
      from: "2037-05-25T00:00:00Z",
      to: "2037-05-25T01:00:00Z",
      asOf: "2037-05-25T00:30:00Z",
      rows: [],
      total: { keyCount: 0, admitted: 0 },
    });
    expect(await usage("/usage?from=2d&to=90m&by=hour")).toMatchObject({
      from: "2037-05-23T00:00:00Z",
      to: "2037-05-24T23:00:00Z",
    });
    expect(await usage("/usage?from=400d")).toMatchObject({ from: "2036-04-20T00:00:00Z" });
    expect(await usage("/usage?from=yesterday&to=today")).toMatchObject({
      from: "2037-05-24T00:00:00Z",
      to: "2037-05-25T00:00:00Z",
    });
  });

  it.for([
    "from=2037-05-02&to=2037-05-02",
    "from=2035-01-01&to=2037-01-01",
    "from=401d",
    "by=customer",
    "customer=Nobody",
    "customer=cus_000000000000",
    "by=hour&sort=admitted",
    "by=day&sort=refused",
    "by=day&direction=asc",
    "to=1d",
  ])("cannot be of %s", async (query, { expect }) => {
    expect((await operator("GET", `/usage?${query}`)).status).toBe(400);
  });

  it("adds up to the reported hours or days, whatever its rows are of", async ({ expect }) => {
    const from = Date.UTC(2036, 5, 1) / HOUR;
    const customers = ["Ada", "ada", "Bo", "bo", null, "=Cy"];
    const keys = await Promise.all(
      customers.map((_, i) => createKey({ plan: i % 2 === 0 ? "free" : "business", perDay: 10 + i })),
    );
    const name = env.DB.prepare("update api_keys set name = ? where id = ?");
    await env.DB.batch(keys.map(({ id }, i) => name.bind(`k${i % 4}`, id)));
    for (const [i, customer] of customers.entries())
      if (customer !== null) await giveKeys(customer, keys[i]?.id ?? "");
    const idsOf = (rows: Stored[]) => new Set(rows.map(({ key }) => keys[key]?.id));
    type Stored = { hour: number; key: number } & Figures;
    const figure = fc.integer({ min: 0, max: 3 });
    const stored = fc.uniqueArray(
      fc.record({
        hour: fc.integer({ min: 0, max: 71 }),
        key: fc.integer({ min: 0, max: keys.length - 1 }),
        admitted: figure,
        refused: figure,
        refusedWhileBanned: figure,
      }),
      { maxLength: 30, selector: ({ hour, key }) => hour * 10 + key },
    );
    const query = fc.record({
      first: fc.integer({ min: 0, max: 70 }),
      hours: fc.integer({ min: 1, max: 72 }),
      by: fc.constantFrom("hour", "day", "key"),
      sort: fc.constantFrom("admitted", "refused", "name"),
      direction: fc.constantFrom("asc", "desc"),
      filter: fc.constantFrom(
        { text: "", has: () => true },
        { text: `&key=${keys[2]?.id}`, has: (key: number) => key === 2 },
        { text: "&customer=ADA", has: (key: number) => key < 2 },
        { text: "&customer=bo", has: (key: number) => key === 2 || key === 3 },
        { text: "&plan=free", has: (key: number) => key % 2 === 0 },
      ),
    });
    const iso = (hour: number) => new Date((from + hour) * HOUR).toISOString();
    setClock((from + 150) * HOUR);
    await fc.assert(
      fc.asyncProperty(stored, query, async (rows, { first, hours, by, sort, direction, filter }) => {
        await env.DB.prepare("delete from usage where day >= ? and day < ?")
          .bind(from * 3_600, (from + 72) * 3_600)
          .run();
        for (const [place, hours] of Map.groupBy(
          rows,
          ({ hour, key }) => `${Math.floor(hour / 24)} ${key}`,
        )) {
          const [day = 0, key = 0] = place.split(" ").map(Number);
          const figures = hours.map(({ hour, admitted, refused, refusedWhileBanned }) => {
            const isRefused = refused + refusedWhileBanned > 0;
            const stored: StoredHour = isRefused ? [admitted, refused, refusedWhileBanned, {}] : admitted;
            return [hour % 24, stored];
          });
          const owned = keys[key];
          if (owned) await insertUsage(iso(day * 24).slice(0, 10), [owned, Object.fromEntries(figures)]);
        }
        const order = by === "hour" || by === "day" ? "" : `&sort=${sort}&direction=${direction}`;
        const path = `/usage?from=${iso(first)}&to=${iso(first + hours)}&by=${by}${order}${filter.text}`;
        const step = by === "hour" ? 1 : 24;
        const isIn = (at: number, size: number) =>
          Math.floor(at / size) >= Math.floor(first / size) && Math.floor(at / size) * size < first + hours;
        const ofFilter = rows.filter(({ key }) => filter.has(key));
        const expected = ofFilter.filter(({ hour }) => isIn(hour, step));
        const all = await usage(`${path}&limit=500`);
        expect(all.total).toEqual({
          ...sumOf(expected),
          ...(order && { keyCount: idsOf(expected).size }),
        });
        expect(sumOf(all.rows)).toEqual(sumOf(expected));
        if (by === "hour") expect(all.rows).toHaveLength(hours);
        if (by === "hour" || by === "day") return;
        const values = all.rows.map((row) =>
          sort === "name" ? (row.keyName ?? "").toLowerCase() : row[sort],
        );
        const sorted = values.toSorted((a, b) => (a < b ? -1 : Number(a > b)));
        expect(values).toEqual(direction === "asc" ? sorted : sorted.reverse());
      }),
      { numRuns: runs(8) },
    );
  });
});

function sumOf(rows: readonly Figures[]): Figures {
  const sum = (name: keyof Figures) => rows.reduce((total, row) => total + row[name], 0);
  return {
    admitted: sum("admitted"),
    refused: sum("refused"),
    refusedWhileBanned: sum("refusedWhileBanned"),
  };
}

describe("who comes close to a limit", () => {
  const END = Date.UTC(2035, 8, 30, 12, 30);

  async function keyOf(customer: string | null, perDay = 1_000) {
    const key = await createKey({ plan: "free", perDay });
    await operator("PATCH", `/keys/${key.id}`, { customer });
    return key;
  }

  async function use(key: TestKey, perDay: number, ...admitted: number[]) {
    const insert = env.DB.prepare(
      `insert into usage select unixepoch('2035-09-30') - ?1 * 86400, id, customer_id, plan, ?3, 0, 0, ?4, '{}', '[]'
       from api_keys where id = ?2`,
    );
    await env.DB.batch(admitted.map((each, daysAgo) => insert.bind(daysAgo, key.id, each, perDay)));
  }

  async function byCustomer(query: string) {
    setClock(END);
    const { customers } = (await operator("GET", `/customers?${query}`)).body;
    const listed = customers as { usage: { keyCount: number } }[]; // the documented shape
    return listed.flatMap(({ usage, ...customer }) => (usage.keyCount > 0 ? { customer, ...usage } : []));
  }

  it("is each day's share of the limit of that day, whatever the limit is now", async ({ expect }) => {
    const paws = await keyOf("Paws");
    const [small, burst] = [await keyOf("Small"), await keyOf("Burst")];
    await use(burst, 1, 900);
    await use(paws, 1_000, ...Array<number>(25).fill(900), ...Array<number>(5).fill(100));
    await use(small, 1_000, 799);
    const steady = await keyOf(null);
    await use(steady, 1_000, 0, ...Array<number>(5).fill(900));
    const near = {
      customer: { name: "Paws", email: null },
      keyCount: 1,
      daysNear: 25,
      peakPercent: 90,
      admitted: 23_000,
      refused: 0,
      refusedWhileBanned: 0,
    };
    const once = { customer: { name: "Burst" }, daysNear: 1, peakPercent: 90_000 };
    const expected = [near, once, { customer: { name: "Small" }, daysNear: 0, peakPercent: 79.9 }];
    expect(await byCustomer("sort=near&from=29d")).toMatchObject(expected);
    const often = async () => (await operator("GET", "/usage/near?limit=1")).body.often;
    expect(await often()).toMatchObject([{ keyId: paws.id, daysNear: 7 }]);
    await operator("POST", `/keys/${paws.id}/temporary-limits`, { requestsPerDay: 2_000, days: 1 });
    expect(await byCustomer("sort=near&from=29d")).toMatchObject(expected);
    // A key that was near another limit takes no other key's place.
    expect(await often()).toMatchObject([{ keyId: steady.id, daysNear: 5 }]);
    expect(await byCustomer("sort=near&from=0h")).toMatchObject([
      { customer: { name: "Burst" } },
      { customer: { name: "Paws" }, peakPercent: 90, daysNear: 1 },
      { customer: { name: "Small" }, peakPercent: 79.9, daysNear: 0 },
    ]);
  });

  it("is of a customer, by name in any case or id, that of the key that comes closest", async ({
    expect,
  }) => {
    setClock(END - 100 * DAY);
    await env.DB.prepare("delete from usage").run();
    const [a, b] = [await keyOf("ADA"), await keyOf("Ada")];
    const [c, d] = [await keyOf("Bö"), await keyOf("BÖ")];
    await use(a, 1_000, 790, 790, 790);
    await use(b, 100, 85, 0, 10);
    for (const key of [c, d]) await use(key, 1_000, 1);
    expect(await byCustomer("from=6d&sort=name")).toMatchObject([
      {
        customer: { name: expect.stringMatching(/^ada$/i) },
        keyCount: 2,
        admitted: 2_465,
        peakPercent: 85,
        daysNear: 1,
      },
      { keyCount: 2, admitted: 2 },
    ]);
    expect(await byCustomer("from=6d&customer=BÖ")).toMatchObject([{ keyCount: 2, admitted: 2 }]);
  });
});

describe("a question that reads too much", () => {
  it("is refused before D1 reads the usage", async ({ expect }) => {
    setClock(Date.UTC(2034, 0, 31, 12));
    const insert = `with recursive n(i) as (select 0 union all select i + 1 from n where i < 41700)
      insert into usage select unixepoch('2034-01-30') + i % 2 * 86400, printf('key_%012d', i / 2), null, 'pro', 1, 0, 0, 1, '{}', '[1]' from n`;
    await env.DB.exec(insert.replaceAll("\n", " "));
    const asked = await operator("GET", "/usage?from=1d&by=hour");
    expect([asked.status, asked.body.message]).toEqual([
      400,
      "from: this is the usage of more than a million hours of keys. Ask by day, for less time, or for one key or customer",
    ]);
    for (const query of [
      "from=1d&by=day",
      "from=1d&by=key&limit=1",
      "from=1d&by=hour&key=key_000000000001",
      "by=hour",
    ])
      expect((await operator("GET", `/usage?${query}`)).status, query).toBe(200);
    await env.DB.prepare("delete from usage where key_id like 'key_0000000%'").run();
  });
});

describe("usage as CSV", () => {
  it.for(["key", "hour", "day"])(
    "has all rows of the answer by %s, whatever the size of a page",
    async (by, { expect }) => {
      const [few, many] = [await createKey(), await createKey({ plan: "free" })];
      await env.DB.prepare("update api_keys set name = '=1, \"2\"' where id = ?").bind(few.id).run();
      await giveKeys("A\u2028b", few.id);
      await giveKeys("=c", many.id);
      const month = ["key", "hour", "day"].indexOf(by) + 1;
      const range = `from=2036-0${month}-01&to=2036-0${month}-03`;
      await insertUsage(`2036-0${month}-01`, [few, { 10: 1 }], [many, { 10: [500, 2, 0, {}] }]);
      const path = `/admin/usage?${range}&by=${by}&limit=1&format=csv`;
      const response = await app(path, { key: env.ADMIN_TOKEN });
      expect(response.headers.get("Content-Type")).toBe("text/csv; charset=utf-8; header=present");
      const csv = await response.text();
      const rows = Papa.parse<Record<string, string>>(csv, { header: true, skipEmptyLines: true }).data;
      const answer = await usage(`/usage?${range}&by=${by}`);
      const text = (value: unknown) => String(value ?? "").replace(/^=/, "'=");
      expect(rows).toEqual(
        answer.rows.map((row) => {
          const cells = (value: unknown, path: string): [string, string][] =>
            typeof value === "object" && value !== null
              ? Object.entries(value).flatMap(([name, each]) => cells(each, path ? `${path}.${name}` : name))
              : [[path, text(value)]];
          return Object.fromEntries(cells(row, ""));
        }),
      );
    },
  );

  it("has a row for each hour of a key, after a BOM, without which Excel spoils umlauts", async ({
    expect,
  }) => {
    setClock(Date.UTC(2037, 6, 10, 12));
    const key = await createKey();
    await insertUsage("2037-07-10", [key, { 11: [3, 1, 0, {}] }]);
    const path = `/admin/keys/${key.id}/usage?from=1h&by=hour&format=csv`;
    const bytes = await (await app(path, { key: env.ADMIN_TOKEN })).arrayBuffer();
    expect(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)).toBe(
      "\ufeffstart,admitted,refused,refusedWhileBanned\r\n2037-07-10T11:00:00Z,3,1,0\r\n2037-07-10T12:00:00Z,0,0,0\r\n",
    );
  });
});
