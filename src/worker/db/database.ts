/** Opening the database, and telling its outages from our bugs. */
import type { SQL } from "drizzle-orm";
import { type DrizzleD1Database, drizzle } from "drizzle-orm/d1";
import { SQLiteAsyncDialect } from "drizzle-orm/sqlite-core";
import { causesOf } from "../errors.ts";
import * as schema from "./schema.ts";

export type Database = DrizzleD1Database<typeof schema> & { readonly $client: D1Database };

export function openDatabase(binding: D1Database): Database {
  return drizzle(binding, { schema });
}

/** SQL by hand, or a query of drizzle's builder. */
export type Statement = SQL | { toSQL(): { sql: string; params: unknown[] } };

const dialect = new SQLiteAsyncDialect();

/**
 * One transaction, all or nothing: each statement's rows, of the types that the caller knows them to have. drizzle's
 * own `batch` cannot take SQL by hand that has parameters.
 */
export async function transact<Rows extends readonly unknown[]>(
  db: Database,
  statements: { [K in keyof Rows]: Statement },
): Promise<{ [K in keyof Rows]: Rows[K][] }> {
  const prepared = statements.map((statement) => {
    const { sql, params } = "toSQL" in statement ? statement.toSQL() : dialect.sqlToQuery(statement);
    return db.$client.prepare(sql).bind(...params);
  });
  const results = await db.$client.batch(prepared);
  // D1 answers with one result for each statement, in order; what its rows are is the SQL's word.
  return results.map((result) => result.results) as { [K in keyof Rows]: Rows[K][] };
}

/** D1 has no error codes: its messages start like this, and one that blames the SQL or the data says what is wrong. */
const FROM_D1 = /D1_|D1 DB|Cannot resolve D1|Network connection lost|storage caused object to be reset/;
const BLAMES_US =
  /SQLITE_(ERROR|CONSTRAINT|MISMATCH|TOOBIG|RANGE|MISUSE|AUTH)|D1_TYPE_ERROR|D1_COLUMN_NOTFOUND|Wrong number of parameter bindings/;

/** Whether the thrown value means that D1 could not be reached or was overloaded, so that trying later may work. */
export function isDatabaseOutage(thrown: unknown): boolean {
  const text = causesOf(thrown)
    .map((cause) => (cause instanceof Error ? cause.message : ""))
    .join("\n");
  return FROM_D1.test(text) && !BLAMES_US.test(text);
}
