/** The migrated database has STRICT tables, and allows the values that the code names. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import {
  BAN_CAUSES,
  KEY_STATUSES,
  ORDER_STATUSES,
  STORED_ALERT_TYPES,
} from "../../../src/worker/db/values.ts";

/** Tables of D1, SQLite and the migrations themselves. */
const NOT_OURS = /^(_cf_|d1_|sqlite_)/;

type TableRow = { name: string; strict: number; wr: number };

async function migratedTables(): Promise<TableRow[]> {
  const { results } = await env.DB.prepare(
    "select name, strict, wr from pragma_table_list where schema = 'main' and type = 'table'",
  ).all<TableRow>();
  return results.filter(({ name }) => !NOT_OURS.test(name));
}

describe("the migrated database", () => {
  it("has only STRICT tables", async ({ expect }) => {
    const migrated = await migratedTables();
    expect(migrated.filter(({ strict }) => strict !== 1)).toEqual([]);
  });

  it("has tables WITHOUT ROWID where rows are found by a text key", async ({ expect }) => {
    const withoutRowid = (await migratedTables()).filter(({ wr }) => wr === 1).map(({ name }) => name);
    expect(withoutRowid.sort()).toEqual([
      "alert_receivers",
      "console_sessions",
      "key_secrets",
      "limiters",
      "outdated_keys",
      "owner_links",
      "past_owners",
      "usage",
    ]);
  });

  it.for([
    ["api_keys", KEY_STATUSES],
    ["orders", ORDER_STATUSES],
    ["bans", BAN_CAUSES],
    ["alerts", STORED_ALERT_TYPES],
  ] as const)("allows exactly the values of the code in %s", async ([table, allowed], { expect }) => {
    const row = await env.DB.prepare("select sql from sqlite_schema where name = ?")
      .bind(table)
      .first<{ sql: string }>();
    const listed = row?.sql.match(/(?:status|cause|type)[`"]? in \(([^)]*)\)/i)?.[1] ?? "";
    expect(listed).toBe(allowed.map((value) => `'${value}'`).join(", "));
  });
});
