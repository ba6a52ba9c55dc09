/** Usage: what limiters report of each hour, and what operators see of a range by hour, day, key, owner and plan. */
import { runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import Papa from "papaparse";
import { describe, it } from "vitest";
import { runs } from "../../support/deep.ts";
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
type Row = Figures & {
  start?: string;
  keyId?: string;
  keyName?: string;
  owner?: string | null;
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

const storedOf = async ({ id }: TestKey) =>
  (
    await env.DB.prepare("select hour, admitted, refused from usage where key_id = ? order by hour")
      .bind(id)
      .all()
  ).results;

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
    expect((await operator("GET", `/keys/${key.id}`)).body.lastUsedDay).toBe("2037-03-01");
  });

  it("of which a part was reported is replaced by the whole, never by less", async ({ expect }) => {
    const key = await createKey({ perMinute: 2 });
    await request(key, 2, T0 + DAY);
    await operator("GET", `/keys/${key.id}/usage`);
    await request(key, 3, T0 + DAY + 60_000);
    await reportHourOf(key, T0 + DAY);
    expect(await storedOf(key)).toMatchObject([{ admitted: 4, refused: 1 }]);
    const later = { admitted: 9, refused: 2, refused_minutes: '[{"minute":1,"by":{"minute":2}}]' };
    await env.DB.prepare("update usage set admitted = ?, refused = ?, refused_minutes = ? where key_id = ?")
      .bind(...Object.values(later), key.id)
      .run();
    await request(key, 1, T0 + DAY + 120_000); // a clock that ran backwards
    await operator("GET", `/keys/${key.id}/usage`);
    const stored = env.DB.prepare("select admitted, refused, refused_minutes from usage where key_id = ?");
    expect(await stored.bind(key.id).first()).toEqual(later);
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

  it("is that of today by default, by day", async ({ expect }) => {
    setClock(Date.UTC(2037, 3, 1, 0, 30));
    const { id } = await createKey();
    expect((await operator("GET", `/keys/${id}/usage`)).body).toEqual({
      keyId: id,
      from: "2037-04-01T00:00:00Z",
      to: "2037-04-01T01:00:00Z",
      by: "day",
      asOf: "2037-04-01T00:30:00Z",
      rows: [{ start: "2037-04-01", admitted: 0, refused: 0, refusedWhileBanned: 0 }],
      total: { admitted: 0, refused: 0, refusedWhileBanned: 0 },
    });
    expect((await operator("GET", "/keys/key_unknown/usage?format=csv")).status).toBe(404);
  });
});

describe("the usage of a range", () => {
  it("is what was reported, from the first hour on and before the last, and asks no limiter", async ({
    expect,
  }) => {
    const [few, many] = [await createKey({ perDay: 100 }), await createKey({ plan: "free" })];
    await insertUsage("2037-04-30T23:00:00Z", [few, 1_000]);
    await insertUsage("2037-05-01T00:00:00Z", [few, 10, 1]);
    await insertUsage("2037-05-02T22:00:00Z", [few, 5], [many, 100]);
    await insertUsage("2037-05-02T23:00:00Z", [few, 1_000]);
    const limiters = watchLimiters();
    setClock(Date.UTC(2037, 4, 20));
    const watched = operatorOf(startApp({ KEY_LIMITER: limiters.KEY_LIMITER }));
    const path = "/usage?from=2037-05-01T00:59:00Z&to=2037-05-02T22:01:00Z";
    expect((await watched("GET", path)).body).toEqual({
      from: "2037-05-01T00:00:00Z",
      to: "2037-05-02T23:00:00Z",
      by: "key",
      asOf: "2037-05-02T23:00:00Z",
      rows: [
        expect.objectContaining({ keyId: many.id, admitted: 100, percent: 5 }),
        {
          keyId: few.id,
          keyName: "test",
          ownerName: null,
          ownerEmail: null,
          plan: "business",
          limits: { requestsPerMinute: 1_000, requestsPerDay: 100 },
          percent: 7.5,
          admitted: 15,
          refused: 1,
          refusedWhileBanned: 0,
        },
      ],
      total: { keyCount: 2, admitted: 115, refused: 1, refusedWhileBanned: 0 },
      next: null,
    });
    expect(limiters.addressed()).toEqual([]);
    const hours = (await usage(`${path}&by=hour`)).rows;
    expect(hours).toHaveLength(47);
    expect([hours[0], hours[1], hours.at(-1)]).toMatchObject([
      { start: "2037-05-01T00:00:00Z", admitted: 10 },
      { start: "2037-05-01T01:00:00Z", admitted: 0 },
      { start: "2037-05-02T22:00:00Z", admitted: 105 },
    ]);
    expect((await usage(`${path}&by=day`)).rows).toMatchObject([
      { start: "2037-05-01", admitted: 10 },
      { start: "2037-05-02", admitted: 105 },
    ]);
  });

  it("is today by default, as of the hour before the current one; times can be relative", async ({
    expect,
  }) => {
    setClock(Date.UTC(2037, 4, 25, 0, 30));
    expect(await usage("/usage")).toMatchObject({
      from: "2037-05-25T00:00:00Z",
      to: "2037-05-25T01:00:00Z",
      asOf: "2037-05-24T23:00:00Z",
      rows: [],
      total: { keyCount: 0, admitted: 0 },
    });
    expect(await usage("/usage?from=2d&to=90m")).toMatchObject({
      from: "2037-05-23T00:00:00Z",
      to: "2037-05-24T23:00:00Z",
    });
    expect(await usage("/usage?from=yesterday&to=today")).toMatchObject({
      from: "2037-05-24T00:00:00Z",
      to: "2037-05-25T00:00:00Z",
    });
  });

  it.for([
    "from=2037-05-02&to=2037-05-02",
    "from=2035-01-01&to=2037-01-01",
    "by=owner&sort=percent",
    "to=1d",
  ])("cannot be of %s", async (query, { expect }) => {
    expect((await operator("GET", `/usage?${query}`)).status).toBe(400);
  });

  it("adds up to the reported hours, whatever its rows are of", async ({ expect }) => {
    const from = Date.UTC(2036, 5, 1) / HOUR;
    const owners = ["Ada", "ada", "Bo", null, null, "=Cy"];
    const keys = await Promise.all(
      owners.map((_, i) => createKey({ plan: i % 2 === 0 ? "free" : "business", perDay: 10 + i })),
    );
    const name = env.DB.prepare("update api_keys set name = ?, owner_name = ?, owner_email = ? where id = ?");
    await env.DB.batch(
      keys.map(({ id }, i) => name.bind(`k${i % 4}`, owners[i] ?? null, i === 3 ? "bo" : null, id)),
    );
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
      by: fc.constantFrom("hour", "day", "key", "owner", "plan"),
      sort: fc.constantFrom("admitted", "refused", "name"),
      direction: fc.constantFrom("asc", "desc"),
      filter: fc.constantFrom(
        { text: "", has: () => true },
        { text: `&key=${keys[2]?.id}`, has: (key: number) => key === 2 },
        { text: "&owner=ADA", has: (key: number) => key < 2 },
        { text: "&owner=bo", has: (key: number) => key === 2 || key === 3 },
        { text: "&plan=free", has: (key: number) => key % 2 === 0 },
      ),
    });
    setClock((from + 100) * HOUR);
    await fc.assert(
      fc.asyncProperty(stored, query, async (rows, { first, hours, by, sort, direction, filter }) => {
        await env.DB.prepare("delete from usage where hour between ? and ?")
          .bind(from * 3_600, (from + 72) * 3_600)
          .run();
        const insert = env.DB.prepare("insert into usage values (?, ?, ?, ?, ?, null)");
        if (rows.length > 0) {
          await env.DB.batch(
            rows.map((row) =>
              insert.bind(
                ...[(from + row.hour) * 3_600, keys[row.key]?.id ?? ""],
                ...[row.admitted, row.refused, row.refusedWhileBanned],
              ),
            ),
          );
        }
        const iso = (hour: number) => new Date((from + hour) * HOUR).toISOString();
        const path = `/usage?from=${iso(first)}&to=${iso(first + hours)}&by=${by}&sort=${sort}&direction=${direction}${filter.text}`;
        const expected = rows.filter(
          ({ hour, key }) => hour >= first && hour < first + hours && filter.has(key),
        );
        const all = await usage(`${path}&limit=500`);
        expect(all.total).toEqual({ ...sumOf(expected), keyCount: idsOf(expected).size });
        expect(sumOf(all.rows)).toEqual(sumOf(expected));
        if (by === "hour") expect(all.rows).toHaveLength(hours);
        if (by === "hour" || by === "day") return;
        const values = all.rows.map((row) =>
          sort === "name" ? (row.keyName ?? row.owner ?? row.plan ?? "").toLowerCase() : row[sort],
        );
        const sorted = values.toSorted((a, b) => (a < b ? -1 : Number(a > b)));
        expect(values).toEqual(direction === "asc" ? sorted : sorted.reverse());
      }),
      { numRuns: runs(20) },
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

describe("usage as CSV", () => {
  it.for(["key", "owner", "plan", "hour", "day"])(
    "has the rows of the answer by %s, and names its next page",
    async (by, { expect }) => {
      const [few, many] = [await createKey(), await createKey({ plan: "free" })];
      await env.DB.prepare("update api_keys set name = '=1, \"2\"', owner_name = 'A\u2028b' where id = ?")
        .bind(few.id)
        .run();
      const month = ["key", "owner", "plan", "hour", "day"].indexOf(by) + 1;
      const range = `from=2036-0${month}-01&to=2036-0${month}-03`;
      await insertUsage(`2036-0${month}-01T10:00:00Z`, [few, 1], [many, 500, 2]);
      const rows: Record<string, string>[] = [];
      for (let path = `/usage?${range}&by=${by}&limit=1&format=csv`; path !== ""; ) {
        const response = await app(`/admin${path}`, { key: env.ADMIN_TOKEN });
        expect(response.headers.get("Content-Type")).toBe("text/csv; charset=utf-8; header=present");
        rows.push(
          ...Papa.parse<Record<string, string>>(await response.text(), { header: true, skipEmptyLines: true })
            .data,
        );
        path = /^<\/admin(.+)>; rel="next"$/.exec(response.headers.get("Link") ?? "")?.[1] ?? "";
      }
      const answer = await usage(`/usage?${range}&by=${by}`);
      const text = (value: unknown) => String(value ?? "").replace(/^=/, "'=");
      expect(rows).toEqual(
        answer.rows.map((row) => {
          const { limits, ...flat } = { limits: {}, ...row };
          return Object.fromEntries(
            Object.entries({ ...limits, ...flat }).map(([name, value]) => [name, text(value)]),
          );
        }),
      );
    },
  );

  it("has a row for each hour of a key, after a BOM, without which Excel spoils umlauts", async ({
    expect,
  }) => {
    setClock(Date.UTC(2037, 6, 10, 12));
    const key = await createKey();
    await insertUsage("2037-07-10T11:00:00Z", [key, 3, 1]);
    const path = `/admin/keys/${key.id}/usage?from=1h&by=hour&format=csv`;
    const bytes = await (await app(path, { key: env.ADMIN_TOKEN })).arrayBuffer();
    expect(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)).toBe(
      "\ufeffstart,admitted,refused,refusedWhileBanned\r\n2037-07-10T11:00:00Z,3,1,0\r\n2037-07-10T12:00:00Z,0,0,0\r\n",
    );
  });
});
