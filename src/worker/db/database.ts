/** Opens the database, runs transactions, and tells outages of D1 from errors in our SQL. */
import { DrizzleQueryError, getTableColumns, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { type DrizzleD1Database, drizzle } from "drizzle-orm/d1";
import { SQLiteAsyncDialect, type SQLiteTable } from "drizzle-orm/sqlite-core";
import { ApiError, causesOf } from "../platform/errors.ts";
import type { Vars } from "../platform/settings.ts";

/** What code that only reads and writes D1 can reach. */
export type DatabaseEnv = Vars & { readonly DB: D1Database };

/** The D1 binding. */
type Client = Pick<D1Database, "prepare" | "batch">;

export type Database = DrizzleD1Database & { readonly $client: Client };

/** Without a session of D1, every query goes to the primary, also if the database has replicas (ADR-39). */
export function openDatabase(client: Client): Database {
  const wrapping: Client = {
    prepare: (query) => client.prepare(query),
    // drizzle wraps the errors of single queries only. Without this wrapper, a connection to D1 that is lost
    // in a batch would look like a lost connection to the client.
    batch: <Row>(statements: D1PreparedStatement[]) =>
      client.batch<Row>(statements).catch((thrown) => {
        throw new DrizzleQueryError("(a batch)", [], thrown);
      }),
  };
  // drizzle's driver calls these two members only.
  return drizzle(wrapping as D1Database);
}

/** SQL text, or a query that drizzle built. */
export type Statement = SQL | { toSQL(): { sql: string; params: unknown[] } };

/** A statement in parts, so that a change can add its condition to `where`. */
export type Conditional = { readonly head: SQL; readonly where?: SQL; readonly tail?: SQL };

export function render({ head, where = sql`true`, tail = sql`` }: Conditional, condition: SQL): Statement {
  return sql`${head} where (${where}) and ${condition} ${tail}`;
}

/** SQL that writes a time in Unix seconds in the form of `rfc3339`. */
export function rfc3339Sql(seconds: SQL): SQL {
  return sql`strftime('%Y-%m-%dT%H:%M:%SZ', ${seconds}, 'unixepoch')`;
}

/** SQL of the members of the view of a row: their own SQL, or else the column with the name of the member. */
export function membersSql<View extends object>(
  table: SQLiteTable,
  { entries }: { readonly entries: View },
  own: { readonly [Member in keyof View]?: SQL },
): SQL {
  const members: Readonly<Record<string, SQLWrapper>> = { ...getTableColumns(table), ...own };
  const named = Object.keys(entries).map((name) => sql`${members[name]} as ${sql.identifier(name)}`);
  return sql.join(named, sql`, `);
}

const dialect = new SQLiteAsyncDialect();

/**
 * Runs the statements in one transaction and returns each statement's rows. The caller names the types of the
 * rows. drizzle's own `batch` does not accept SQL text with parameters.
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
  // D1 returns one result for each statement, in order. The caller has named the types of the rows.
  return results.map((result) => result.results) as { [K in keyof Rows]: Rows[K][] };
}

/** D1 has no error codes, only messages. A message about our SQL or its data matches OUR_ERROR. */
const FROM_D1 = /D1_\w*ERROR|D1 DB|Cannot resolve D1|storage caused object to be reset/;
/** A client's upload can fail with the same message, so only a query that failed with it is an outage. */
const LOST_CONNECTION = /Network connection lost|internal error; reference/i;
const OUR_ERROR =
  /SQLITE_(ERROR|CONSTRAINT|MISMATCH|TOOBIG|RANGE|MISUSE|AUTH)|D1_TYPE_ERROR|D1_COLUMN_NOTFOUND|Wrong number of parameter bindings/;

/** Whether a table or column is missing: the database may have the migrations of another version. */
export function lacksTableOrColumn(thrown: unknown): boolean {
  return /no such (table|column)|has no column named/.test(messagesOf(thrown));
}

/** Whether a trigger or constraint with this name refused a batch. */
export function isRefusedBy(name: string, thrown: unknown): boolean {
  // The message of an ApiError can contain text of the request.
  return !(thrown instanceof ApiError) && messagesOf(thrown).includes(name);
}

/** A full database, in D1's words and in SQLite's, and one that another program has locked. Nothing is stored. */
const TAKES_NONE = /Exceeded maximum DB size|SQLITE_FULL|SQLITE_BUSY/;

/** Whether D1 refused a write, and has stored nothing. */
export function takesNoWrites(thrown: unknown): boolean {
  return isDatabaseOutage(thrown) && TAKES_NONE.test(messagesOf(thrown));
}

/** Whether D1 could not be reached or was overloaded, so that a later try may succeed. */
export function isDatabaseOutage(thrown: unknown): boolean {
  const text = messagesOf(thrown);
  const isQuery = causesOf(thrown).some((cause) => cause instanceof DrizzleQueryError);
  return (FROM_D1.test(text) || (isQuery && LOST_CONNECTION.test(text))) && !OUR_ERROR.test(text);
}

/** Leaves out drizzle's messages, because they contain the parameters, and so text of the request. */
function messagesOf(thrown: unknown): string {
  const causes = causesOf(thrown).filter((cause) => !(cause instanceof DrizzleQueryError));
  return causes.map((cause) => (cause instanceof Error ? cause.message : "")).join("\n");
}
