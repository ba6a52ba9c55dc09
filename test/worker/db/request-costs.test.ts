/** What each kind of request costs D1: calls, rows read and rows written (docs/performance.md). */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { openDatabase } from "../../../src/worker/db/database.ts";
import { writeReport } from "../../../src/worker/key/key-policy-sql.ts";
import { dayMsOf } from "../../../src/worker/key/usage-day.ts";
import { createKey, insertOrders, newOrderId } from "../../support/factories.ts";
import { LIST, startApp, watchPolicyLoads } from "../../support/worker.ts";
import { type Costs, countCosts } from "../../support/wrap-database.ts";

function startCountedApp() {
  const { DB, take } = countCosts(env.DB);
  const costOf = async (request: () => Promise<Response>): Promise<Costs> => {
    take();
    await (await request()).arrayBuffer();
    return take();
  };
  return { app: startApp({ DB }), costOf };
}

describe("what a request costs D1", () => {
  it("is as docs/performance.md says", async ({ expect }) => {
    const { key } = await createKey();
    const orders = Array.from({ length: 3_000 }, newOrderId);
    for (let i = 0; i < orders.length; i += 500) {
      await insertOrders(...orders.slice(i, i + 500).map((id) => ({ id })));
    }
    const { app, costOf } = startCountedApp();
    const list = () => app(LIST, { key });
    const none = () => app("/v1/none", { key });

    // An isolate's first request reads the MAC keys.
    expect(await costOf(none)).toEqual({ calls: 1, rowsRead: 1, rowsWritten: 0 });
    expect(await costOf(none)).toEqual({ calls: 0, rowsRead: 0, rowsWritten: 0 });
    await costOf(list);
    expect(await costOf(list)).toEqual({ calls: 1, rowsRead: 1, rowsWritten: 0 });
    const cancel = await costOf(() => app(`${LIST}/${orders[1_500]}`, { key, method: "DELETE" }));
    expect(cancel).toEqual({ calls: 1, rowsRead: 4, rowsWritten: 5 });
    const changed = await costOf(list);
    expect(changed).toMatchObject({ calls: 2, rowsWritten: 0 });
    expect(changed.rowsRead).toBeLessThan(1_100);
    expect(changed.rowsRead).toBeGreaterThan(900);
  });

  it("is one read for an invented session of the console, signing out too", async ({ expect }) => {
    const { app, costOf } = startCountedApp();
    const headers = { Cookie: `__Host-session=${"a".repeat(43)}`, Origin: "https://orders.example" };
    for (const [path, method] of [
      ["/console", "GET"],
      ["/console/sign-out", "POST"],
    ] as const)
      expect(await costOf(() => app(path, { method, headers }))).toMatchObject({ calls: 1, rowsWritten: 0 });
  });

  it("is some rows for the page of an owner, however many keys there are", async ({ expect }) => {
    await env.DB.exec(
      "insert into customers (id, name, name_key, created_at) with recursive n(value) as (select 1 union all select value + 1 from n where value < 2000) select 'cus_' || value, value, value, 0 from n",
    );
    await env.DB.exec(
      "insert into api_keys (id, name, customer_id, plan, created_at) select 'key_of_' || name, name, id, 'free', 0 from customers",
    );
    const { app, costOf } = startCountedApp();
    const headers = { Authorization: `Bearer ${env.ADMIN_TOKEN}`, "X-Operator": "mo" };
    const body = JSON.stringify({ customer: "7", days: 1 });
    const { link } = await (await app("/admin/links", { method: "POST", headers, body })).json<{
      link: string;
    }>();
    const Cookie = `__Host-owner=${link.split("#")[1]}`;
    const { rowsRead } = await costOf(() => app("/owner", { headers: { Cookie } }));
    expect(rowsRead).toBeLessThan(100);
  });

  it("is 6 rows for a change of a plan or a key, 11 for a rotation or a ban, and 2 or 3 more to tell a used key", async ({
    expect,
  }) => {
    const { id } = await createKey({ used: true });
    await env.DB.exec("delete from outdated_keys");
    const { app, costOf } = startCountedApp();
    const change = (method: string, path: string, body: object) => {
      const headers = { Authorization: `Bearer ${env.ADMIN_TOKEN}`, "X-Operator": "mo" };
      return costOf(() => app(`/admin${path}`, { method, headers, body: JSON.stringify(body) }));
    };
    const written = [
      await change("PATCH", `/keys/${id}`, { note: "changed" }),
      await change("POST", `/keys/${id}/rotate`, { graceSeconds: 60 }),
      await change("PUT", `/keys/${id}/ban`, { seconds: 60, reason: "test" }),
    ].map(({ rowsWritten }) => rowsWritten);
    expect(written).toEqual([6, 14, 13]);
    expect(await change("PATCH", "/plans/pro", { requestsPerDay: 10_001 })).toMatchObject({ rowsWritten: 6 });
  });

  it("is few rows for *Overview*, the metrics and a page of orders, however many keys and orders there are", async ({
    expect,
  }) => {
    const numbers = (count: number) =>
      `with recursive n(i) as (select 0 union all select i + 1 from n where i < ${count - 1})`;
    await env.DB.exec(
      `insert into customers (id, name, name_key, created_at) ${numbers(500)} select 'cus_rows_' || i, 'rows ' || i, 'rows ' || i, 0 from n`,
    );
    await env.DB.exec(
      `insert into api_keys (id, name, customer_id, plan, created_at) ${numbers(1_000)} select 'key_rows_' || i, i, 'cus_rows_' || (i / 2), 'pro', 0 from n`,
    );
    // Five keys are near their limit each day.
    await env.DB.exec(
      `insert into usage ${numbers(30_000)} select unixepoch('now', 'start of day') - i / 1000 * 86400, 'key_rows_' || (i % 1000), 'cus_rows_' || (i % 1000 / 2), 'pro', iif(i % 1000 < 5, 900, 100), 0, 0, 1000, '{}', '[' || iif(i % 1000 < 5, 900, 100) || ']' from n`,
    );
    await env.DB.exec(`insert into orders (id) ${numbers(3_000)} select 9000000 + i from n`);
    const { app, costOf } = startCountedApp();
    const Origin = "https://orders.example";
    const body = new URLSearchParams({ token: env.ADMIN_TOKEN });
    const signedIn = await app("/console/sign-in", { method: "POST", body, headers: { Origin } });
    const Cookie = signedIn.headers.get("Set-Cookie")?.split(";")[0] ?? "";
    const headers = { Authorization: `Bearer ${env.ADMIN_TOKEN}`, Cookie };
    const read: Record<string, number> = {};
    for (const path of ["/console", "/admin/metrics", "/console/orders"])
      read[path] = (await costOf(() => app(path, { headers }))).rowsRead;
    for (const [path, rows] of Object.entries(read)) expect(rows, path).toBeLessThan(600);
    // By the hour, each day of a key is read.
    const day = await costOf(() => app("/console/usage?by=hour", { headers }));
    expect(day.rowsRead).toBeLessThan(2_600);
  });

  it("is 3 rows for the first report of a key and day, 2 for each report with news, and none for an old one", async ({
    expect,
  }) => {
    const { DB, take } = countCosts(env.DB);
    const startMs = dayMsOf(Date.now());
    const report = async (admitted: number) => {
      const none = { refused: 0, refusedWhileBanned: 0, refusedMinutes: [] };
      const hour = { startMs, admitted, ...none, limits: { day: 10 } };
      const credentials = [{ hash: "a".repeat(64), lastUsedMs: startMs }];
      const report = { key: "key_reported", hours: [hour], bans: [], thresholds: [], credentials };
      await writeReport(openDatabase(DB), report, []);
      return take().rowsWritten;
    };
    const written: number[] = [];
    for (const admitted of [1, 3, 3, 2]) written.push(await report(admitted));
    expect(written).toEqual([3, 2, 0, 0]);
  });

  it("is a query for each load of the policy, which the limiter makes, and a second one for the first load", async ({
    expect,
  }) => {
    const { id, key } = await createKey();
    // The search for a key's secrets ends at the next key's, which counts as read.
    await env.DB.batch([
      env.DB.prepare("insert into api_keys (id, name, plan, created_at) values ('key_~', '', 'free', 0)"),
      env.DB.prepare("insert into key_secrets (hash, key_id, hint, created_at) values ('~', 'key_~', '', 0)"),
    ]);
    const costs: Omit<Costs, "calls">[] = [];
    watchPolicyLoads().wrap(async (query) => {
      const results = await query();
      const sum = (of: (meta: D1Meta) => number) => results.reduce((all, { meta }) => all + of(meta), 0);
      costs.push({ rowsRead: sum((meta) => meta.rows_read), rowsWritten: sum((meta) => meta.rows_written) });
      return results;
    });
    const app = startApp();
    await app("/v1/none", { key });
    await env.KEY_LIMITER.getByName(id).forget();
    await app("/v1/none", { key });
    expect(costs).toEqual([
      { rowsRead: 4, rowsWritten: 0 },
      { rowsRead: 5, rowsWritten: 1 },
      { rowsRead: 5, rowsWritten: 0 },
    ]);
  });
});
