/**
 * Versions that meet during a deployment: the deployed release (test/release) and the current Worker. Each calls limiters of the
 * other, on tables that have every migration and some more, and data that the release has written.
 */
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, it } from "vitest";
import { maxBlockSize } from "../../src/worker/limiter/core/reservation.ts";
import { temporaryFolder } from "../support/cli.ts";
import { LIST, untilMinuteHas } from "../support/service.ts";
import {
  createKey,
  type Database,
  type Migration,
  migrate,
  readMigrations,
  readScripts,
  startBoth,
  startOne,
  VERSIONS,
  type Version,
  type VersionClient,
} from "../support/versions.ts";

const PRO = { plan: "pro", perMinute: 300, perDay: 10_000 };
const FREE = { plan: "free", perMinute: 60, perDay: 1_000 };
const ORDERS = 1_200;

/** What a later migration may do: columns and a table that neither version knows. */
const LATER: Migration = {
  name: "9998_later.sql",
  queries: [
    ...["plans", "api_keys", "key_secrets", "orders", "daily_usage", "bans", "audit_log"].map(
      (table) => `alter table ${table} add column added_later text`,
    ),
    "create table added_later (id integer primary key, value text) strict",
  ],
};
/** It fails in the middle. */
const FAILING: Migration = {
  name: "9999_fails.sql",
  queries: ["alter table orders add column half text", "insert into no_such_table values (1)"],
};

const folder = temporaryFolder();
let scripts: Record<Version, string>;
let both: Awaited<ReturnType<typeof startBoth>>;
let migrations: { before: Migration[]; added: Migration[] };
let before: Map<string, Record<string, unknown>[]>;

beforeAll(async () => {
  scripts = await readScripts();
  both = await startBoth(scripts);
  migrations = await readMigrations();
  await migrate(both.db, migrations.before);
  await useRelease(both.of("old", "old"));
  before = await settledRowsOf(both.db);
});
afterAll(() => both?.close());

/** Data of every table, written by the release itself. */
async function useRelease(release: VersionClient): Promise<void> {
  const random = (i: number, below: number) => (i * 7_919) % below;
  const orders = Array.from({ length: ORDERS }, (_, i) => ({
    id: i + 1,
    ...(i % 11 === 0 ? {} : { petId: random(i, 5_000), quantity: 1 + random(i, 9) }),
    ...(i % 5 === 0 ? {} : { shipDate: new Date(random(i, 2_000_000) * 1_000_000).toISOString() }),
    ...(i % 13 === 0 ? {} : { complete: i % 2 === 0 }),
    status: ["pending", "pending", "processing", "shipped", "delivered"][i % 5],
  }));
  await release.admin("POST", "/orders", orders.map((order) => JSON.stringify(order)).join("\n"));
  for (let i = 0; i < 12; i++) {
    const plan = ["free", "pro", "business"][i % 3];
    const { id, key } = await release.admin("POST", "/keys", {
      name: `key ${i}`,
      plan,
      ownerName: `owner ${i}`,
    });
    await release.call(key, `${LIST}/${5 * i + 1}`, { method: "DELETE" });
    await Promise.all(Array.from({ length: 20 }, () => release.call(key)));
    if (i % 3 === 0) await release.admin("POST", `/keys/${id}/rotate`, { graceSeconds: 86_400 });
    if (i % 4 === 1) await release.admin("PUT", `/keys/${id}/ban`, { seconds: 3_600, reason: "a test" });
    if (i % 4 === 2) await release.admin("PATCH", `/keys/${id}`, { disabled: true });
    if (i % 6 === 5) await release.admin("DELETE", `/keys/${id}`);
  }
  await release.admin("PATCH", "/plans/business", { requestsPerMinute: 1_001 });
  await release.admin("PATCH", "/plans/business", { requestsPerMinute: 1_000 });
  const usage = "select '2026-11-01', id, 40, 2, 1, '[[9,40,2,1]]', 4.0 from api_keys";
  await both.db.prepare(`insert into daily_usage ${usage}`).run();
  await both.db.prepare("insert into usage_totals values ('2026-11-01', 'pro', 4, 160, 8, 4, '[]')").run();
}

async function rowsOf(db: Database): Promise<Map<string, Record<string, unknown>[]>> {
  const { results } = await db
    .prepare(
      "select name from sqlite_master where type = 'table' and name not like '\\_cf\\_%' escape '\\' and name not like 'sqlite\\_%' escape '\\' and name <> 'd1_migrations' order by name",
    )
    .all<{ name: string }>();
  const rows = new Map<string, Record<string, unknown>[]>();
  for (const { name } of results)
    rows.set(name, (await db.prepare(`select * from ${name} order by 1, 2`).all()).results);
  return rows;
}

/** Limiters report their first usage after the response. */
async function settledRowsOf(db: Database): Promise<Map<string, Record<string, unknown>[]>> {
  for (let last = await rowsOf(db); ; ) {
    await pause(500);
    const rows = await rowsOf(db);
    if (isDeepStrictEqual(rows, last)) return rows;
    last = rows;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

describe("the migrations, on data of the release", () => {
  it("find rows in every table that operators and clients fill", ({ expect }) => {
    const filled = [...before].filter(([, rows]) => rows.length > 0).map(([name]) => name);
    expect(filled).toEqual(
      expect.arrayContaining([
        ...["api_keys", "audit_log", "bans", "cancelled_orders", "daily_usage", "key_secrets", "orders"],
        ...["order_changes", "order_imports", "order_import_chunks", "plans", "usage_totals"],
      ]),
    );
    expect(before.get("orders")?.length).toBe(ORDERS - 12);
  });

  it("are applied once, and lose and change no value", async ({ expect }) => {
    const all = [...migrations.before, ...migrations.added, LATER];
    expect(await migrate(both.db, all)).toEqual([...migrations.added, LATER].map(({ name }) => name));
    expect(await migrate(both.db, all)).toEqual([]);
    const after = await rowsOf(both.db);
    for (const [table, rows] of before) {
      const columns = Object.keys(rows[0] ?? {});
      const kept = after
        .get(table)
        ?.map((row) => Object.fromEntries(columns.map((name) => [name, row[name]])));
      expect(kept, table).toEqual(rows);
    }
  });

  it("that fail half way leave nothing, and the next run applies the corrected file", async ({ expect }) => {
    const rows = await rowsOf(both.db);
    await expect(migrate(both.db, [FAILING])).rejects.toThrow("no_such_table");
    expect(await rowsOf(both.db)).toEqual(rows);
    const corrected = { ...FAILING, queries: FAILING.queries.slice(0, 1) };
    expect(await migrate(both.db, [corrected])).toEqual([FAILING.name]);
  });
});

const PAIRS = VERSIONS.flatMap((worker) => VERSIONS.map((limiter) => ({ worker, limiter })));

/** The operator's requests reach a Worker of the other version, as in a gradual deployment. */
describe.for(PAIRS)("a client at the $worker Worker, with $limiter limiters", ({ worker, limiter }) => {
  const other: Version = worker === "old" ? "new" : "old";
  let client: VersionClient;
  let operator: VersionClient;

  beforeAll(() => {
    client = both.of(worker, limiter);
    operator = both.of(other, limiter);
  });

  it("lists and cancels, and both versions show the same list", async ({ expect }) => {
    const { key } = await createKey(both.db, "business");
    const id =
      9_007_199_254_740_993n +
      BigInt(PAIRS.findIndex((each) => each.worker === worker && each.limiter === limiter));
    await operator.admin("POST", "/orders", `{"id":${id},"petId":7,"status":"pending"}`);
    const listed = await client.call(key);
    const text = await listed.text();
    expect(text).toContain(`{"id":${id},"petId":7}`);
    expect(await (await operator.call(key)).text()).toBe(text);
    const etag = listed.headers.get("ETag") ?? "";
    expect((await client.call(key, LIST, { headers: { "If-None-Match": etag } })).status).toBe(304);
    const cancel = () => client.call(key, `${LIST}/${id}`, { method: "DELETE" });
    expect([(await cancel()).status, (await cancel()).status]).toEqual([204, 404]);
    expect((await client.call(key, `${LIST}/5`, { method: "DELETE" })).status).toBe(409);
    expect(await (await operator.call(key)).text()).not.toContain(String(id));
  });

  it("counts exactly, with true headers, whichever version a request reaches", async ({ expect }) => {
    const { id, key } = await createKey(both.db, "free");
    await untilMinuteHas(8);
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, i) => (i % 2 ? client : operator).call(key, "/v1/no-such-path")),
    );
    const remaining = responses
      .filter(({ status }) => status === 404)
      .map(({ headers }) => Number(headers.get("X-RateLimit-Remaining")));
    expect(remaining.sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => i));
    const refused = responses.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(40);
    for (const { headers } of refused) {
      expect(headers.get("X-RateLimit-Limit")).toBe("60");
      expect(Number(headers.get("Retry-After"))).toBeGreaterThan(0);
    }
    expect((await operator.admin("GET", `/keys/${id}`)).live).toMatchObject({
      day: { used: 60 },
    });
  });

  it("bans a key that goes on, and an operator lifts the ban", async ({ expect }) => {
    const { id, key } = await createKey(both.db, "free");
    await untilMinuteHas(8);
    const burst = (count: number) =>
      Promise.all(Array.from({ length: count }, () => client.call(key, "/v1/no-such-path")));
    await burst(61);
    await pause(1_100);
    await burst(20);
    const banned = await client.call(key);
    expect([banned.status, await banned.json()]).toMatchObject([429, { code: "key_banned" }]);
    expect(await operator.admin("DELETE", `/keys/${id}/ban`)).toMatchObject({ effective: "immediately" });
    expect(await (await client.call(key)).json()).toMatchObject({ code: "rate_limit_exceeded" });
  });

  it("obeys each change of an operator on the next request", async ({ expect }) => {
    const { id, key, ...issued } = await operator.admin("POST", "/keys", { name: "changing", plan: "pro" });
    expect(issued).toMatchObject({ plan: "pro" });
    const status = async (secret = key) => (await client.call(secret)).status;
    expect(await status()).toBe(200);
    const change = async (method: string, path: string, body?: unknown) => {
      const answer = await operator.admin(method, `/keys/${id}${path}`, body);
      expect(answer.effective, `${method} ${path}`).toBe("immediately");
      return answer;
    };
    await change("PUT", "/ban", { seconds: 600, reason: "a test" });
    expect(await status()).toBe(429);
    await change("DELETE", "/ban");
    expect(await status()).toBe(200);
    await change("PATCH", "", { plan: "business" });
    expect((await client.call(key)).headers.get("X-RateLimit-Limit")).toBe("1000");
    await change("PATCH", "", { disabled: true });
    expect(await status()).toBe(401);
    await change("PATCH", "", { disabled: false });
    expect(await status()).toBe(200);
    const rotated = await change("POST", "/rotate", { graceSeconds: 0 });
    expect([await status(), await status(rotated.key)]).toEqual([401, 200]);
    await change("DELETE", "");
    expect(await status(rotated.key)).toBe(401);
  });
});

describe("a deployment, and a rollback, in the middle of a burst", () => {
  it("gives no request back, and loses at most what is reserved", async ({ expect }) => {
    const service = await startOne(scripts.old, folder);
    try {
      const db = await service.db();
      await migrate(db, [...migrations.before, ...migrations.added, LATER]);
      const keys = await Promise.all(
        [PRO, FREE].map(async (limits) => ({ ...(await createKey(db, limits.plan)), limits, counted: 0 })),
      );
      for (const next of ["new", "old"] as const) {
        await untilMinuteHas(8);
        const client = await service.client();
        const bursts = keys.map(({ key }) =>
          Array.from({ length: 60 }, () => client.call(key, "/v1/no-such-path").then(({ status }) => status)),
        );
        // Before the deployment, which cuts off requests: a rejection is handled from the beginning.
        const settled = bursts.map((burst) => Promise.allSettled(burst));
        await Promise.all(bursts.map((burst) => burst[20]));
        await service.deploy(scripts[next]);
        const outcomes = await Promise.all(settled);
        const operator = await service.client();
        for (const [i, key] of keys.entries()) {
          const { id, limits, counted } = key;
          const statuses = (outcomes[i] ?? []).map((each) => (each.status === "fulfilled" ? each.value : 0));
          const admitted = statuses.filter((status) => status === 404).length;
          // A request that was cut off may have been counted.
          const cutOff = statuses.filter((status) => status !== 404 && status !== 429).length;
          const { live } = await operator.admin("GET", `/keys/${id}`);
          const { used } = (live as { day: { used: number } }).day; // the shape that is tested above
          expect(used).toBeGreaterThanOrEqual(counted + admitted);
          expect(used - counted - admitted).toBeLessThan(maxBlockSize(limits) + cutOff);
          key.counted = used;
        }
      }
    } finally {
      await service.close();
    }
  });
});
