/**
 * A change is one batch: its audit row, which is written only if the change may be made; its statements, each of
 * which holds only if that row was written; and the object as the batch leaves it.
 */
import { getTableColumns, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { type Database, openDatabase, type Statement, transact } from "../db/database.ts";
import { notFound } from "../errors.ts";
import { audit, type Change, isAudited } from "./audit/sql.ts";
import type { Input } from "./call.ts";
import { requireVersion } from "./precondition.ts";

type Versioned = { readonly version: number };

/** One key, plan or order. */
export type Target<Row, View extends Versioned> = {
  /** The id. */
  readonly object: string;
  /** The table and the condition of the row, as in `plans where id = …`. */
  readonly row: SQL;
  /** SQL of the members that the audit log shows. */
  readonly members: Readonly<Record<string, SQLWrapper>>;
  readonly select: SQL;
  readonly view: (row: Row) => View;
  /** The JSON text of the 412's `current`. By default that of the view. */
  readonly json?: (now: View) => string;
  /** The message of the 404. */
  readonly missing: string;
};

/** What a change takes of the input of its call. */
export type Asked<Body = unknown> = Pick<Input<Body, unknown>, "env" | "author" | "id" | "body" | "expected">;

type Making<View> = Omit<Change, "object"> & {
  /** What must be true of the row beside its version. */
  readonly onlyIf?: SQL;
  /** `isMade`: whether the batch has written the audit row. */
  readonly statements: (isMade: SQL) => readonly Statement[];
  /** Throws if the object, as it is, refuses the change whatever its version. */
  readonly refuse?: (now: View) => void;
};

export type Made<View, Returned> = {
  /** The object as the batch leaves it, or as it was removed. */
  readonly now: View;
  /** False: the version was right, and there was nothing to change. */
  readonly isMade: boolean;
  /** The rows that the statements returned. The caller names their type. */
  readonly returned: readonly Returned[];
};

/** Throws the 404 if there is no such object, what `refuse` throws, and the 412 if the object has another version. */
export async function make<Row, View extends Versioned, Returned = unknown>(
  { env, author, expected }: Pick<Asked, "env" | "author" | "expected">,
  { object, row, select, view, json, missing }: Target<Row, View>,
  { onlyIf = sql`true`, statements, refuse, ...change }: Making<View>,
): Promise<Made<View, Returned>> {
  const db = openDatabase(env.DB);
  const entry = { ...change, object };
  const hasVersion = expected === undefined ? sql`true` : sql`version = ${expected}`;
  const [audited = [], ...results] = await transact<unknown[]>(db, [
    audit(db, author, entry, sql`exists (select 1 from ${row} and ${hasVersion} and ${onlyIf})`),
    ...statements(isAudited(author, entry)),
    select,
  ]);
  // A statement that removes the object returns it: the last row is the object either way.
  const rows = results.flat();
  const last = rows.at(-1) as Row | undefined; // the SQL decides the type
  if (last === undefined) throw notFound(missing);
  const now = view(last);
  const isMade = audited.length > 0;
  if (!isMade) {
    refuse?.(now);
    requireVersion(now, expected, json?.(now));
  }
  return { now, isMade, returned: rows.slice(0, -1) as Returned[] }; // the caller names the type
}

/** The object as it is. Throws the 404 if there is none. */
export async function requireTarget<Row, View extends Versioned>(
  db: Database,
  { select, view, missing }: Target<Row, View>,
): Promise<View> {
  const row = await db.get<Row | undefined>(select);
  if (row === undefined) throw notFound(missing);
  return view(row);
}

/**
 * For `before`: the named members, read in the transaction of the change, since another change may be stored between
 * an earlier read and the batch. The audit row comes before the change in the batch.
 */
export function selectMembers(
  { members, row }: Pick<Target<never, never>, "members" | "row">,
  names = Object.keys(members),
): SQL {
  const named = Object.entries(members).filter(([name]) => names.includes(name));
  const pairs = named.map(([name, value]) => sql`${name}, ${value}`);
  return sql`(select json_object(${sql.join(pairs, sql`, `)}) from ${row})`;
}

/** By member: a value, or SQL. An undefined value is left out. */
type Values<Table extends SQLiteTable> = { readonly [Member in keyof Table["$inferInsert"]]?: unknown };

/** Adds the row if the condition holds at this point of the batch. */
export function insertRow<Table extends SQLiteTable>(
  table: Table,
  values: Values<Table>,
  condition: SQL,
): Statement {
  const entries = entriesOf(table, values);
  const columns = entries.map(({ column }) => column);
  const row = entries.map(({ value }) => value);
  return sql`
    insert into ${table} (${sql.join(columns, sql`, `)}) select ${sql.join(row, sql`, `)} where ${condition}`;
}

/** Sets the values and raises the version, if the condition holds at this point of the batch. */
export function updateRow<Table extends SQLiteTable>(
  table: Table,
  id: string,
  values: Values<Table>,
  condition: SQL,
): Statement {
  const assignments = entriesOf(table, values).map(({ column, value }) => sql`${column} = ${value}`);
  return sql`
    update ${table} set ${sql.join([...assignments, sql`version = version + 1`], sql`, `)}
    where id = ${id} and ${condition}`;
}

function entriesOf(table: SQLiteTable, values: Readonly<Record<string, unknown>>) {
  return Object.entries(getTableColumns(table)).flatMap(([member, { name }]) =>
    values[member] === undefined ? [] : [{ column: sql.identifier(name), value: sql`${values[member]}` }],
  );
}
