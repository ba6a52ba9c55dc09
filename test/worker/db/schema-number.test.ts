/** A database of another version: /health, /admin, the console and the log say what to do. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { SCHEMA_NUMBER } from "../../../src/worker/db/schema-number.ts";
import { createKey } from "../../support/factories.ts";
import { LIST, log, startApp } from "../../support/worker.ts";
import { browserWith } from "../console/browser.ts";

const [of22] = env.TEST_MIGRATIONS;
const NO_TABLES = "The database has no tables: run npm start on this machine, or npm run deploy";
const OLDER = "npm start on this machine, or npm run deploy for a deployment, brings it to this version";
const OLDEST = "no migration brings it to this version: docs/deploying.md, Upgrade,";
const NEWER = `(schema ${SCHEMA_NUMBER + 1}, and this version has ${SCHEMA_NUMBER}): use that version`;

const headers = { Authorization: `Bearer ${env.ADMIN_TOKEN}` };
async function run(database: D1Database, ...statements: readonly string[]): Promise<void> {
  if (statements.length > 0) await database.batch(statements.map((each) => database.prepare(each)));
}

it("the code has the number of the last migration, and so has the migrated database", async ({ expect }) => {
  expect(Number(env.TEST_MIGRATIONS.at(-1)?.name.slice(0, 4))).toBe(SCHEMA_NUMBER);
  expect(await env.DB.prepare("select number from schema_number").first("number")).toBe(SCHEMA_NUMBER);
});

describe("a database of another version", () => {
  // In this order: each has the database of the one before, changed.
  it.for([
    ["without tables", [], 503, NO_TABLES],
    ["of 2.2", of22?.queries ?? [], 503, OLDER],
    ["of 2.1", ["drop table past_owners"], 503, OLDEST],
    ["of a newer one", [`create view schema_number as select ${SCHEMA_NUMBER + 1} as number`], 200, NEWER],
  ] as const)(
    "%s is named by /health, the metrics and the log",
    async ([, statements, status, says], { expect }) => {
      const DB = env.DB_OF_ANOTHER_VERSION;
      await run(DB, ...statements);
      const app = startApp({ DB });
      const health = await app("/health");
      expect([health.status, await health.text()]).toEqual([status, expect.stringContaining(says)]);
      expect(log.lines()).toContainEqual({ event: "schema_wrong", says: expect.stringContaining(says) });
      const isUp = Number(status === 200);
      if (!isUp)
        expect(await (await app("/admin/metrics", { headers })).text()).toContain(
          `{part="database"} ${isUp}`,
        );
    },
  );
});

describe("a Worker on the database of 2.1", () => {
  it("says so to operators and in the log of a client's request", async ({ expect }) => {
    const { key } = await createKey();
    const rename = "alter table api_keys rename column may_cancel to cancels";
    await run(env.DB, rename, "drop view schema_number", "drop table if exists past_owners");
    const says = expect.stringContaining(OLDEST);
    expect((await startApp()(LIST, { key })).status).toBe(503);
    expect(log.lines()).toContainEqual({ event: "schema_wrong", says });
    const listed = await startApp()("/admin/keys", { headers });
    expect([listed.status, await listed.json()]).toEqual([503, expect.objectContaining({ message: says })]);
    const { get } = await browserWith(env.ADMIN_TOKEN);
    expect(await (await get("/console/keys")).text()).toContain(OLDEST);
  });
});
