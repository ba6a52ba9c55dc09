/** The migrated database has the columns of the drizzle schema. */
import { env } from "cloudflare:workers";
import { is } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { describe, it } from "vitest";
import * as schema from "../../../src/worker/db/schema.ts";
import { STORED_ALERT_TYPES } from "../../../src/worker/db/values.ts";

const tables = Object.values(schema)
  .filter((exported) => is(exported, SQLiteTable))
  .map(getTableConfig);

/** Tables of D1, SQLite and the migrations themselves. */
const NOT_OURS = /^(_cf_|d1_|sqlite_)/;

async function rows<Row>(query: string, ...bindings: string[]): Promise<Row[]> {
  const { results } = await env.DB.prepare(query)
    .bind(...bindings)
    .all<Row>();
  return results;
}

type TableRow = { name: string; strict: number; wr: number };

async function migratedTables(): Promise<TableRow[]> {
  const all = await rows<TableRow>(
    "select name, strict, wr from pragma_table_list where schema = 'main' and type = 'table'",
  );
  return all.filter(({ name }) => !NOT_OURS.test(name));
}

describe("the migrated database", () => {
  it("has only STRICT tables", async ({ expect }) => {
    const migrated = await migratedTables();
    expect(migrated.filter(({ strict }) => strict !== 1)).toEqual([]);
  });

  for (const table of tables) {
    it(`has ${table.name} as in the schema: columns, types, nullability, defaults, primary key`, async ({
      expect,
    }) => {
      const columns = table.columns.toSorted((a, b) => (a.name < b.name ? -1 : 1));
      const migrated = await rows(
        "select name, lower(type) as type, `notnull`, dflt_value, pk from pragma_table_info(?) order by name",
        table.name,
      );
      expect(migrated).toEqual(
        columns.map((column) => ({
          name: column.name,
          type: column.getSQLType(),
          notnull: Number(column.notNull),
          dflt_value: column.default === undefined ? null : literal(column.default),
          pk: Number(column.primary),
        })),
      );
    });
  }

  it("allows exactly the statuses of the code", async ({ expect }) => {
    for (const [table, allowed] of [
      ["api_keys", schema.apiKeys.status.enumValues],
      ["orders", schema.orders.status.enumValues],
      ["bans", schema.bans.cause.enumValues],
      ["alerts", STORED_ALERT_TYPES],
    ] as const) {
      const [row] = await rows<{ sql: string }>("select sql from sqlite_schema where name = ?", table);
      const listed = row?.sql.match(/(?:status|cause|type)[`"]? in \(([^)]*)\)/i)?.[1] ?? "";
      expect(listed, table).toBe(allowed.map((value) => `'${value}'`).join(", "));
    }
  });
});

/** As SQLite writes a default back. */
function literal(value: unknown): string {
  return typeof value === "string" ? `'${value}'` : String(Number(value)); // a boolean is 0 or 1
}
