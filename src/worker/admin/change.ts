/**
 * A change is one batch. The audit row is written only if the change may be made. The statements are data:
 * `make` renders each of them with the condition that this row was written.
 */
import { getTableColumns, SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import {
  type Conditional,
  type Database,
  isRefusedBy,
  openDatabase,
  render,
  transact,
} from "../db/database.ts";
import type { AuditCall } from "../db/values.ts";
import { ApiError, conflict, notFound } from "../platform/errors.ts";
import { audit, isAudited } from "./audit/sql.ts";
import type { Input } from "./call.ts";
import { toEtag } from "./http/if-match.ts";

type Versioned = { readonly version: number };

/** The key, plan or order that changes. */
export type Target<Row, View extends Versioned> = {
  readonly object: string;
  /** The table and the condition of the row without its version, as in `plans where id = …`. */
  readonly row: SQL;
  /** SQL of the members that the audit log shows. */
  readonly members: Readonly<Record<string, SQLWrapper>>;
  readonly select: SQL;
  readonly view: (row: Row) => View;
  /** Returns the JSON text of `current` in a 412. Without it: the JSON of the view. */
  readonly json?: (now: View) => string;
  /** The message of the 404. */
  readonly missing: string;
  /** Throws if the present state of the object forbids the change, whatever the version. */
  readonly refuse?: (now: View) => void;
};

/** The part of a call's input that a change needs. */
export type ChangeInput<Body = unknown> = Pick<
  Input<Body, unknown>,
  "env" | "author" | "id" | "body" | "expected"
>;

type ChangeSpec = {
  readonly call: AuditCall;
  /**
   * The names of the members that change, or SQL of a JSON text, for the audit log. The batch reads the
   * values, because another change may be stored between an earlier read and the batch.
   */
  readonly before?: readonly string[] | SQL;
  /** A value, or SQL of a JSON text. */
  readonly after?: unknown;
  /** A further condition of the row, for this change alone. */
  readonly onlyIf?: SQL;
  readonly statements: readonly Conditional[];
  /** The statements remove the object. */
  readonly removes?: boolean;
};

type ChangeResult<View, Returned> = {
  /** The object after the batch, or before it if the batch removed the object. */
  readonly now: View;
  /** False if the version was right and nothing had to change. */
  readonly isMade: boolean;
  /** The rows that the statements returned, in a type that the caller names. */
  readonly returned: readonly Returned[];
};

/** Throws a 404 if the object does not exist, whatever `refuse` throws, and a 412 for another version. */
export async function make<Row, View extends Versioned, Returned = unknown>(
  { env, author, expected }: Pick<ChangeInput, "env" | "author" | "expected">,
  target: Target<Row, View>,
  { call, before, after, onlyIf = sql`true`, statements, removes = false }: ChangeSpec,
): Promise<ChangeResult<View, Returned>> {
  const db = openDatabase(env.DB);
  const { object, row, members } = target;
  const replaced = before instanceof SQL ? before : before && selectMembers(members, row, before);
  const change = { call, object, before: replaced, after };
  const hasVersion = expected === undefined ? sql`true` : sql`version = ${expected}`;
  const isWritten = isAudited(author, change);
  const conditional = statements.map((statement) => render(statement, isWritten));
  const [audited = [], ...results] = await transact<unknown[]>(db, [
    audit(db, author, change, sql`exists (select 1 from ${row} and ${hasVersion} and ${onlyIf})`),
    ...(removes ? [target.select, ...conditional] : [...conditional, target.select]),
  ]);
  const [found] = results.splice(removes ? 0 : conditional.length, 1);
  const now = viewOf(target, found?.[0] as Row | undefined); // the SQL decides the type
  const isMade = audited.length > 0;
  if (!isMade) refuse(target, now, expected);
  return { now, isMade, returned: results.flat() as Returned[] }; // the caller names the type
}

/** Reads the object. Throws as `make` does for a change of this version. */
export async function requireTarget<Row, View extends Versioned>(
  db: Database,
  target: Target<Row, View>,
  expected?: number,
): Promise<View> {
  const now = viewOf(target, await db.get<Row | undefined>(target.select));
  refuse(target, now, expected);
  return now;
}

function viewOf<Row, View extends Versioned>(
  { view, missing }: Target<Row, View>,
  row: Row | undefined,
): View {
  if (row === undefined) throw notFound(missing);
  return view(row);
}

function refuse<Row, View extends Versioned>(
  target: Target<Row, View>,
  now: View,
  expected: number | undefined,
): void {
  target.refuse?.(now);
  if (expected === undefined || now.version === expected) return;
  throw new ApiError(
    "changed_meanwhile",
    "It was changed meanwhile, so this change was not made. Look at it as it is now, and try again.",
    { headers: { ETag: toEtag(now) }, members: { current: target.json?.(now) ?? JSON.stringify(now) } },
  );
}

/** A change that would leave a key without a limit violates this constraint of the schema. */
const LIMITS_OF_KEYS = "plans_limits_of_keys";

/** Awaits the change. Throws a 409 with this message if the change would leave a key without a limit. */
export async function conflictOnMissingLimit<T>(message: string, change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (thrown) {
    if (isRefusedBy(LIMITS_OF_KEYS, thrown)) throw conflict(message);
    throw thrown;
  }
}

/** Returns SQL that reads these members of the row as JSON text. */
export function selectMembers(
  members: Readonly<Record<string, SQLWrapper>>,
  row: SQL,
  names: readonly string[] = Object.keys(members),
): SQL {
  const named = Object.entries(members).filter(([name]) => names.includes(name));
  const pairs = named.map(([name, value]) => sql`${name}, ${value}`);
  return sql`(select json_object(${sql.join(pairs, sql`, `)}) from ${row})`;
}

/** A value or SQL for each member. An undefined value changes nothing. */
type Values<Table extends SQLiteTable> = { readonly [Member in keyof Table["$inferInsert"]]?: unknown };

export function insertRow<Table extends SQLiteTable>(table: Table, values: Values<Table>): Conditional {
  const entries = entriesOf(table, values);
  const columns = entries.map(({ column }) => column);
  const row = entries.map(({ value }) => value);
  return { head: sql`insert into ${table} (${sql.join(columns, sql`, `)}) select ${sql.join(row, sql`, `)}` };
}

/** Sets the values and raises the version. */
export function updateRow<Table extends SQLiteTable>(
  table: Table,
  id: string,
  values: Values<Table>,
): Conditional {
  const assignments = entriesOf(table, values).map(({ column, value }) => sql`${column} = ${value}`);
  const head = sql`update ${table} set ${sql.join([...assignments, sql`version = version + 1`], sql`, `)}`;
  return { head, where: sql`id = ${id}` };
}

function entriesOf(table: SQLiteTable, values: Readonly<Record<string, unknown>>) {
  return Object.entries(getTableColumns(table)).flatMap(([member, { name }]) =>
    values[member] === undefined ? [] : [{ column: sql.identifier(name), value: sql`${values[member]}` }],
  );
}
