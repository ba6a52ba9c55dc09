/** Opening the database, and telling its outages from our bugs. */
import { type DrizzleD1Database, drizzle } from "drizzle-orm/d1";
import { causesOf } from "../errors.ts";
import * as schema from "./schema.ts";

export type Database = DrizzleD1Database<typeof schema>;

export function openDatabase(binding: D1Database): Database {
  return drizzle(binding, { schema });
}

/** D1 has no error codes: its messages start like this, and one that blames the SQL or the data names its SQLite code. */
const FROM_D1 = /D1_|D1 DB|Cannot resolve D1|Network connection lost|storage caused object to be reset/;
const BLAMES_US =
  /SQLITE_(ERROR|CONSTRAINT|MISMATCH|TOOBIG|RANGE|MISUSE|AUTH)|D1_TYPE_ERROR|D1_COLUMN_NOTFOUND/;

/** Whether the thrown value means that D1 could not be reached or was overloaded, so that trying later may work. */
export function isDatabaseOutage(thrown: unknown): boolean {
  const text = causesOf(thrown)
    .map((cause) => (cause instanceof Error ? cause.message : ""))
    .join("\n");
  return FROM_D1.test(text) && !BLAMES_US.test(text);
}
