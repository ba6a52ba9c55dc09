/** The backup of docs/second-day.md: the tables that it exports, as wrangler exports them, and the orders; then its restore. */
import { describe, it } from "vitest";
import { runAdmin } from "../support/cli.ts";
import { ADMIN_TOKEN, LIST, openService } from "../support/service.ts";
import { codeBlocks, readText } from "../support/sources.ts";

/** Lost after a restore, except for the orders, which the command line exports. */
const NOT_EXPORTED = ["order_changes", "orders"];
/** wrangler exports a local database with it: whether without the schema, whether without the rows, and the tables. */
const EXPORT = "PRAGMA miniflare_d1_export(?,?,?);";

const lines = codeBlocks(readText("docs/second-day.md")).flatMap(({ text }) => text.split("\n"));
/** In the documented order. The tables of each command; none for `orders export`. */
const exports = lines
  .filter((line) => /(?:d1|orders) export /.test(line))
  .map((line) => [...line.matchAll(/--table (\w+)/g)].map(([, table = ""]) => table));
const [lastCancelled = "", deletePlans = "", countKeys = "", deleteCancelled = ""] = lines
  .flatMap((line) => /d1 execute .*--command "(.*)"/.exec(line)?.[1] ?? [])
  .filter((sql) =>
    /^(?:select id from cancelled_orders|(?:delete from|update) (?:plans|orders))\b/.test(sql),
  );

describe("a backup", () => {
  it("makes only files that git ignores", ({ expect }) => {
    const files = lines.flatMap(
      (line) => /(?:export|execute)\b.*(?: > | --output )([\w-]+\.\w+)/.exec(line)?.[1] ?? [],
    );
    expect(files).toHaveLength(4);
    expect(readText(".gitignore").split("\n")).toEqual(expect.arrayContaining(files));
  });

  it("has every table that is not left out on purpose", async ({ expect }) => {
    const { db } = await openService();
    const { results } = await db
      .prepare(
        "select name from sqlite_master where type = 'table' and name not glob '_cf_*' and sql not null",
      )
      .all<{ name: string }>();
    const tables = results.map(({ name }) => name).filter((name) => !/^(d1_|sqlite_)/.test(name));
    expect([...exports.flat(), ...NOT_EXPORTED].toSorted()).toEqual(tables.toSorted());
  });

  it("restores keys, plans, the audit log, and orders with all digits", async ({ expect }) => {
    const { url, db, admin, call } = await openService();
    const env = { ADMIN_URL: url.href, ADMIN_TOKEN };
    const importOrders = (input: string, ...options: string[]) =>
      runAdmin(["--json", "orders", "import", "-", ...options], env, { input });
    const audit = async () => (await admin("GET", "/audit?limit=500")).body.audit as unknown[]; // compared only
    const plans = () => db.prepare("select * from plans order by id").all();

    const { key } = (await admin("POST", "/keys", { name: "kept", plan: "free", note: "two\nlines" })).body;
    const revoked = (await admin("POST", "/keys", { name: "revoked", plan: "free" })).body;
    await admin("DELETE", `/keys/${revoked.id}`);
    const members = '"petId":9007199254740995,"quantity":1,"shipDate":"2026-11-21T12:00:00.000Z"';
    await importOrders(
      `{"id":9007199254740992}\n{"id":9007199254740993,${members},"complete":true}\n{"id":9223372036854775807}\n{"id":5}\n{"id":6}\n{"id":7}`,
    );
    await call(key, `${LIST}/5`, { method: "DELETE" });
    await importOrders('{"id":5,"status":"shipped"}', "--restore-cancelled");
    const last = await db.prepare(lastCancelled).first<number>("id");
    const statements: string[] = [];
    let exported = "";
    // A client cancels an order after the first command, and one after the second.
    for (const [number, tables] of exports.entries()) {
      if (number > 0) await call(key, `${LIST}/${5 + number}`, { method: "DELETE" });
      if (tables.length > 0) statements.push(...(await exportTables(db, tables)));
      else {
        const finished = await runAdmin(["orders", "export"], env);
        expect(finished).toMatchObject({ code: 0, err: "5 orders\n" });
        exported = finished.out;
      }
    }
    const [plansBefore, keysBefore] = [await plans(), (await admin("GET", "/keys")).text];
    const auditBefore = await audit();
    const cancelledBefore = (await admin("GET", "/orders/cancelled")).body;
    const listBefore = await (await call(key, LIST)).text();
    const ordersBefore = (await runAdmin(["orders", "export"], env)).out;

    await openService(); // deletes all rows
    await db.prepare(deletePlans).run();
    await db.batch(statements.map((sql) => db.prepare(sql)));
    await db.prepare(countKeys).run();
    const imported = await importOrders(exported, "--restore-cancelled");
    expect(JSON.parse(imported.out)).toMatchObject({ inserted: 5, refusedCount: 0 });
    await db.prepare(deleteCancelled.replace("123456", `${last ?? 0}`)).run();

    expect((await plans()).results).toEqual(plansBefore.results);
    // Higher versions, so that a limiter takes the restored records.
    expect(withoutVersions((await admin("GET", "/keys")).text)).toBe(withoutVersions(keysBefore));
    expect((await admin("GET", "/orders/cancelled")).body).toEqual(cancelledBefore);
    // After that of the import, which is the first.
    expect((await audit()).slice(1)).toEqual(auditBefore);
    const list = await call(key, LIST);
    expect([list.status, await list.text()]).toEqual([200, listBefore]);
    expect(listBefore).toContain(`{"id":9007199254740993,${members},"complete":true}`);
    expect((await call(revoked.key, LIST)).status).toBe(401);
    expect((await runAdmin(["orders", "export"], env)).out).toBe(ordersBefore);
  });

  it("deletes no order whose id can be another one's that was rounded", async ({ expect }) => {
    const { db } = await openService();
    await db.batch([
      db.prepare("insert into orders (id) values (9007199254740992), (9007199254740991)"),
      db.prepare(
        `insert into cancelled_orders (id, order_id, cancelled_at, cancelled_by, request_id)
         values (123457, 9007199254740992, 1, 'key', 'request'), (123458, 9007199254740991, 1, 'key', 'request')`,
      ),
      db.prepare(deleteCancelled),
    ]);
    const { results } = await db.prepare("select cast(id as text) as id from orders").all();
    expect(results).toEqual([{ id: "9007199254740992" }]);
  });
});

async function exportTables(db: D1Database, tables: readonly string[]): Promise<string[]> {
  const [rows = []] = await db
    .prepare(EXPORT)
    .bind(true, false, ...tables)
    .raw<string[]>();
  return rows;
}

function withoutVersions(json: string): string {
  return json.replace(/"version":\d+/g, "");
}
