/** The drizzle schema equals the migrated database. */
import { env } from "cloudflare:workers";
import { Column, is, SQL } from "drizzle-orm";
import {
  getTableConfig,
  getViewConfig,
  SQLiteSyncDialect,
  SQLiteTable,
  SQLiteView,
} from "drizzle-orm/sqlite-core";
import { describe, it } from "vitest";
import * as orderSchema from "../../../src/worker/db/order-schema.ts";
import * as otherSchema from "../../../src/worker/db/schema.ts";

const schema = { ...otherSchema, ...orderSchema };

const tables = Object.values(schema)
  .filter((exported) => is(exported, SQLiteTable))
  .map(getTableConfig);

const views = Object.values(schema)
  .filter((exported) => is(exported, SQLiteView))
  .map(getViewConfig);

/** Tables of D1, SQLite and the migrations themselves. */
const NOT_OURS = /^(_cf_|d1_|sqlite_)/;

async function rows<Row>(query: string, ...bindings: string[]): Promise<Row[]> {
  const { results } = await env.DB.prepare(query)
    .bind(...bindings)
    .all<Row>();
  return results;
}

type TableRow = { name: string; strict: number; wr: number };
type ColumnRow = { name: string; type: string; notnull: number; dflt_value: string | null; pk: number };

async function migratedTables(): Promise<TableRow[]> {
  const all = await rows<TableRow>(
    "select name, strict, wr from pragma_table_list where schema = 'main' and type = 'table'",
  );
  return all.filter(({ name }) => !NOT_OURS.test(name));
}

describe("the migrated database", () => {
  it("has the schema's tables and no other, all of them STRICT", async ({ expect }) => {
    const migrated = await migratedTables();
    expect(migrated.map(({ name }) => name).sort()).toEqual(tables.map(({ name }) => name).sort());
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

  for (const view of views) {
    it(`has the view ${view.name} with the columns that the schema names`, async ({ expect }) => {
      const migrated = await rows<ColumnRow>("select * from pragma_table_info(?)", view.name);
      const columns = Object.values(view.selectedFields).map((column) => is(column, Column) && column.name);
      expect(migrated.map(({ name }) => name)).toEqual(columns);
    });
  }

  for (const table of tables) {
    it(`has ${table.name} as in the schema: columns, types, nullability, defaults, primary key`, async ({
      expect,
    }) => {
      const migrated = await rows<ColumnRow>("select * from pragma_table_info(?)", table.name);
      const compositeKey = table.primaryKeys[0]?.columns.map(({ name }) => name) ?? [];
      expect(
        migrated.map(({ name, type, notnull, dflt_value, pk }) => ({
          name,
          type: type.toLowerCase(),
          notnull,
          dflt_value,
          pk,
        })),
      ).toEqual(
        table.columns.map((column) => ({
          name: column.name,
          type: column.getSQLType(),
          notnull: Number(column.notNull),
          dflt_value: column.default === undefined ? null : literal(column.default),
          pk: column.primary ? 1 : compositeKey.indexOf(column.name) + 1,
        })),
      );
    });

    it(`has the indexes of ${table.name} and no other`, async ({ expect }) => {
      const migrated = await rows<{ name: string; unique: number; columns: string }>(
        `select name, "unique", (select group_concat(coalesce(name, '?') order by seqno) from pragma_index_info(list.name)) as columns
         from pragma_index_list(?) as list where origin = 'c' order by name`,
        table.name,
      );
      expect(migrated).toEqual(
        table.indexes
          .map(({ config }) => ({
            name: config.name,
            unique: Number(config.unique),
            columns: config.columns.map((column) => ("name" in column ? column.name : "?")).join(),
          }))
          .sort((a, b) => (a.name < b.name ? -1 : 1)),
      );
    });

    it(`has the foreign keys of ${table.name} and no other`, async ({ expect }) => {
      const migrated = await rows<{ from: string; table: string; to: string }>(
        'select "from", "table", "to" from pragma_foreign_key_list(?)',
        table.name,
      );
      expect(migrated).toEqual(
        table.foreignKeys.map((key) => {
          const { columns, foreignTable, foreignColumns } = key.reference();
          return {
            from: columns[0]?.name,
            table: getTableConfig(foreignTable).name,
            to: foreignColumns[0]?.name,
          };
        }),
      );
    });
  }

  it("has the checks of the schema", async ({ expect }) => {
    for (const table of tables) {
      const [row] = await rows<{ sql: string }>("select sql from sqlite_schema where name = ?", table.name);
      for (const { name } of table.checks) expect(row?.sql, table.name).toContain(`CONSTRAINT "${name}"`);
    }
    expect(tables.flatMap(({ checks }) => checks).map(({ name }) => name)).toEqual([
      "plans_limits_of_keys",
      "api_keys_status",
      "api_keys_temporary_limits",
      "orders_status",
    ]);
  });

  it("allows exactly the statuses of the code", async ({ expect }) => {
    for (const [table, allowed] of [
      ["api_keys", schema.apiKeys.status.enumValues],
      ["orders", schema.orders.status.enumValues],
      ["bans", schema.bans.cause.enumValues],
      ["alerts", schema.alerts.type.enumValues],
    ] as const) {
      const [row] = await rows<{ sql: string }>("select sql from sqlite_schema where name = ?", table);
      const listed = row?.sql.match(/(?:status|cause|type)[`"]? in \(([^)]*)\)/i)?.[1] ?? "";
      expect(listed, table).toBe(allowed.map((value) => `'${value}'`).join(", "));
    }
  });
});

/** As SQLite writes a default back. */
function literal(value: unknown): string {
  // The migration has an expression in parentheses, which the pragma shows without them.
  if (is(value, SQL)) return new SQLiteSyncDialect().sqlToQuery(value).sql.replace(/^\(([\s\S]*)\)$/, "$1");
  return typeof value === "string" ? `'${value}'` : String(Number(value)); // a boolean is 0 or 1
}
