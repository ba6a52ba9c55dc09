/**
 * A change is one transaction, whether of one object or of several. It writes an audit entry for each object
 * that may change, and its statements act on the objects of these entries. A version is the id of the entry
 * that made it. A dry run is the same transaction with a last statement that fails (ADR-35).
 */
import { getTableColumns, SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { namesOfCustomers } from "../db/customers-sql.ts";
import {
  type Conditional,
  type Database,
  isRefusedBy,
  openDatabase,
  render,
  transact,
} from "../db/database.ts";
import { ApiError, conflict, notFound } from "../platform/errors.ts";
import { exactValue, parseExactJson } from "../text/exact-json.ts";
import { capital, formatNumber } from "../text/format.ts";
import { type Members, membersOf, sentenceOf } from "../text/says.ts";
import type { Input } from "./call.ts";
import { toEtag } from "./http/if-match.ts";
import { CHANGED_SINCE } from "./refusal-sql.ts";
import { type AuditCall, saysOf, withNames } from "./says.ts";

/** The part of a call's input that a change needs. */
export type ChangeInput<Body = unknown> = Pick<
  Input<Body, unknown>,
  "env" | "author" | "id" | "body" | "expected"
> & { readonly isDryRun?: boolean };

type Maker = Pick<ChangeInput, "env" | "author" | "isDryRun">;

/** SQL of `id`, `object` and `after` of the entries that the transaction has written. */
export type Made = SQL;

type Transaction = {
  readonly call: AuditCall;
  /** What entries of several transactions have in common: the id of a load or a shipment, or of the request. */
  readonly batch?: string | null | undefined;
  /** What the transaction finds, before it changes anything. */
  readonly find: SQL;
  /** The rows that change: an entry each. */
  readonly from: SQL;
  readonly onlyIf: SQL;
  /** SQL of the id of the object. */
  readonly object: SQL;
  /** Values, or SQL of a JSON text. The transaction reads them, as others may change the object before it. */
  readonly before?: unknown;
  readonly after?: unknown;
  readonly statements: (made: Made) => readonly Conditional[];
  /** Reads the object after the change, or before it if it removes the object. */
  readonly view?: SQL | undefined;
  readonly removes?: boolean | undefined;
};

/** An audit entry that was written, with the names of customers. Of a dry run: that would be written. */
export type ChangeEntry = {
  readonly id: number;
  readonly object: string;
  readonly before: Members;
  readonly after: Members;
};
type EntryRow = Pick<ChangeEntry, "id" | "object"> & Record<"before" | "after", string | null>;

type Outcome<Found> = {
  readonly found: readonly Found[];
  readonly entries: readonly ChangeEntry[];
  readonly viewed: readonly unknown[];
  /** The rows that the statements returned. */
  readonly returned: readonly unknown[];
};

/** The trigger of `dry_run` fails with this text. Nothing else does. */
const TAKEN_BACK = "this was a dry run";

export async function commit<Found>(
  { env, author: { at, requestId, actor }, isDryRun = false }: Maker,
  { call, batch = null, find, from, onlyIf, object, removes = false, ...change }: Transaction,
): Promise<Outcome<Found>> {
  const db = openDatabase(env.DB);
  const [before, after] = [change.before, change.after].map((value) =>
    value instanceof SQL ? value : sql`${value === null ? null : (JSON.stringify(value) ?? null)}`,
  );
  // `before` and `after` never have a secret, only its hint.
  const entries = sql`select null as id, ${object} as object, ${before} as before, ${after} as after from ${from} where ${onlyIf}`;
  const transaction = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
  // The index finds the entries of this second.
  const made = sql`(select id, object, after from audit_log where at = ${at} and transaction_id = ${transaction})`;
  const isMade = sql`exists (select 1 from ${made})`;
  const statements = change.statements(made).map((statement) => render(statement, isMade));
  const { view = sql`select null where false` } = change;
  const written = await transact<unknown[]>(db, [
    find,
    sql`
      insert into audit_log (at, transaction_id, request_id, actor, call, batch, object, before, after)
      select cast(${at} as integer), cast(${transaction} as integer), ${requestId}, ${actor}, ${call}, ${batch}, object, before, after
      from (${entries}) returning id, object, before, after`,
    ...(removes ? [view, ...statements] : [...statements, view]),
    ...(isDryRun ? [sql`insert into dry_run select 1 where ${isMade}`] : []),
  ]).catch((thrown) => {
    if (isDryRun && isRefusedBy(TAKEN_BACK, thrown)) return undefined;
    throw thrown;
  });
  // The batch that D1 took back has no rows. All its checks were passed, so these are the rows of the change.
  const [found = [], rows = [], ...results] =
    written ?? (await transact<unknown[]>(db, [find, entries, view]));
  const [viewed = []] = results.splice(removes || !written ? 0 : statements.length, 1);
  return { found: found as Found[], entries: await toEntries(db, rows), viewed, returned: results.flat() };
}

async function toEntries(db: Database, rows: readonly unknown[]): Promise<ChangeEntry[]> {
  const membersIn = (json: string | null) =>
    json === null ? {} : membersOf(parseExactJson(json, exactValue));
  const entries = (rows as EntryRow[]).map(({ before, after, ...entry }) => ({
    ...entry,
    before: membersIn(before),
    after: membersIn(after),
  }));
  const ids = entries.flatMap(({ before, after }) => [before.customer, after.customer, after.into]);
  const named = await namesOfCustomers(db, ids);
  return entries.map(({ before, after, ...entry }) => ({
    ...entry,
    before: withNames(before, named),
    after: withNames(after, named),
  }));
}

/** The rows of a table that operators change. */
export type Kind = {
  readonly table: SQLiteTable;
  /** As in `No key has this id.` */
  readonly noun: string;
  /** SQL of what people call a row. */
  readonly title: SQL;
  /** SQL of the members that the audit log shows. */
  readonly members: Readonly<Record<string, SQLWrapper>>;
  /** SQL of what is stored of a member of `made.after`, if that is not its value. */
  readonly stored?: Readonly<Record<string, SQL>>;
};

/** One object, and how it is read. */
export type Target<Row, View> = {
  readonly kind: Kind;
  readonly id: string;
  readonly select: SQL;
  readonly view: (row: Row) => View;
};

/** `expected` is the version that the object must have. Undefined: any. */
export type Chosen = { readonly object: string; readonly expected?: number | undefined };

export type ChangeOfRows = Pick<
  Transaction,
  "call" | "batch" | "after" | "statements" | "view" | "removes"
> & {
  /** The names of the members that change, or SQL of a JSON text. */
  readonly before?: readonly string[] | SQL;
  /** SQL: why a row cannot change, as in `is revoked`. Null: it can. It can read `object` and `expected`. */
  readonly refused?: SQL;
  /** SQL: why a row needs no change. */
  readonly keeps?: SQL;
};

type Found = {
  readonly object: string;
  readonly title: string;
  readonly isThere: number;
  readonly isExpected: number;
  readonly refused: string | null;
  readonly keeps: string | null;
};

/** An object that has changed. Of a dry run: that would. */
export type Changed = ChangeEntry & Pick<Found, "title">;

/** An object that was left as it is, with the reason for a sentence that begins with its title. */
type Kept = Found & { readonly reason: string };

/** Changes those of the objects that can change, in the order in which they were chosen. */
export async function makeEach(
  maker: Maker,
  { table, title, members }: Kind,
  chosen: readonly Chosen[],
  change: ChangeOfRows,
) {
  const { before, refused = sql`null`, keeps = sql`null` } = change;
  const pairs = JSON.stringify(chosen.map(({ object, expected }) => [object, expected]));
  const sent = sql`(select value ->> 0 as object, value ->> 1 as expected, key as place from json_each(${pairs})) sent`;
  // A link has no version.
  const hasVersions = chosen.some(({ expected }) => expected !== undefined);
  const isExpected = hasVersions ? sql`coalesce(version = expected, true)` : sql`true`;
  const { found, entries, viewed, returned } = await commit<Found>(maker, {
    ...change,
    find: sql`
      select object, ${table}.id is not null as "isThere", ${title} as title, ${isExpected} as "isExpected",
        ${refused} as refused, ${keeps} as keeps
      from ${sent} left join ${table} on ${table}.id = object order by place`,
    object: sql`object`,
    from: sql`${sent} join ${table} on ${table}.id = object`,
    onlyIf: sql`${isExpected} and ${refused} is null and ${keeps} is null`,
    before: before instanceof SQL ? before : before && jsonOf(members, before),
  });
  const entryOf = new Map(entries.map((entry) => [entry.object, entry]));
  const changed: Changed[] = [];
  const kept: Kept[] = [];
  for (const each of found) {
    const entry = entryOf.get(each.object);
    if (entry === undefined) kept.push({ ...each, reason: whyKept(each) });
    else changed.push({ ...entry, title: each.title });
  }
  return { changed, kept, viewed, returned };
}

function whyKept({ isThere, isExpected, refused, keeps }: Found): string {
  if (!isThere) return "is gone";
  return (isExpected ? (refused ?? keeps) : null) ?? CHANGED_SINCE;
}

type Result<View, Returned> = {
  /** The object after the change, or before it if the change removes it. */
  readonly now: View;
  /** Undefined if nothing had to change. */
  readonly entry: ChangeEntry | undefined;
  readonly returned: readonly Returned[];
  says(effective?: string | null): string;
};

/** Changes one object. Throws a 404 if it does not exist, a 409 if it cannot change, and a 412 for another version. */
export async function make<Row, View extends object, Returned = unknown>(
  input: Maker & Pick<ChangeInput, "expected">,
  { kind, id, select, view }: Target<Row, View>,
  change: ChangeOfRows,
): Promise<Result<View, Returned>> {
  const chosen = [{ object: id, expected: input.expected }];
  const { changed, kept, viewed, returned } = await makeEach(input, kind, chosen, {
    ...change,
    view: select,
  });
  const [entry] = changed;
  const [was] = kept;
  const [row] = viewed as Row[]; // the SQL decides the type
  if (row === undefined) throw missing(kind);
  if (was && was.refused !== null) throw conflict(`The ${kind.noun} ${was.refused}.`);
  const now = view(row);
  if (was && !was.isExpected) throw changedMeanwhile(now);
  return {
    now,
    entry,
    returned: returned as Returned[], // the caller names the type
    says: (effective) => {
      const says = saysOf({ call: change.call, ...(entry ?? { after: change.after }) });
      return sentencesOf([{ title: (entry ?? was)?.title ?? id, says, effective }], input.isDryRun).join("");
    },
  };
}

/** Deletes an object, and returns it as it was. The entry has all its members. */
export async function remove<Row, View extends object>(
  input: Maker & Pick<ChangeInput, "expected">,
  target: Target<Row, View>,
  call: AuditCall,
): Promise<View & { readonly says: string }> {
  const { table, members } = target.kind;
  const { now, says } = await make(input, target, {
    ...{ call, before: Object.keys(members), removes: true },
    statements: () => [{ head: sql`delete from ${table}`, where: sql`id = ${target.id}` }],
  });
  return { ...now, says: says() };
}

/** Creates an object. Returns undefined if there is one with this id. Throws a 409 if it cannot be created so. */
export async function create<Row, View>(
  maker: Maker,
  { kind, id, select, view }: Target<Row, View>,
  { refused = sql`null`, ...change }: Pick<ChangeOfRows, "call" | "after" | "refused" | "statements">,
): Promise<{ readonly now: View; readonly entry: ChangeEntry } | undefined> {
  const { found, entries, viewed } = await commit<Pick<Found, "refused">>(maker, {
    ...change,
    find: sql`select ${refused} as refused`,
    object: sql`object`,
    from: sql`(select ${id} as object)`,
    onlyIf: sql`not exists (select 1 from ${kind.table} where id = object) and ${refused} is null`,
    view: select,
  });
  const reason = found[0]?.refused ?? null;
  if (reason !== null) throw conflict(`The ${kind.noun} ${reason}.`);
  const [entry] = entries;
  return entry && { now: view(viewed[0] as Row), entry }; // the SQL decides the type
}

/** What was said of an object: its title, and the rest of the sentence. */
export type Said = {
  readonly title: string;
  readonly says: string;
  readonly effective?: string | null | undefined;
};

const TITLES_SHOWN = 100;

/** A line for all objects of which the same is true. Of a dry run, it says what would be then. */
export function sentencesOf(said: readonly Said[], isDryRun = false): string[] {
  const alike = Map.groupBy(said, ({ says, effective }) => `${says} ${effective}`);
  return [...alike.values()].flatMap((group) => {
    const [first, ...others] = group;
    if (first === undefined) return [];
    const titles = group.slice(0, TITLES_SHOWN).map(({ title }) => title);
    const more = group.length - titles.length;
    const each = `each of ${titles.join(", ")}${more > 0 ? ` and ${formatNumber(more)} more` : ""}`;
    const subject = others.length === 0 ? first.title : isDryRun ? each : capital(each);
    return `${isDryRun ? "Then " : ""}${sentenceOf(subject, first.says, first.effective)}`;
  });
}

export async function findTarget<Row, View>(
  db: Database,
  { select, view }: Target<Row, View>,
): Promise<View | undefined> {
  const row = await db.get<Row | undefined>(select);
  return row === undefined ? undefined : view(row);
}

/** Reads the object. Throws a 404. */
export async function requireTarget<Row, View>(db: Database, target: Target<Row, View>): Promise<View> {
  const found = await findTarget(db, target);
  if (found === undefined) throw missing(target.kind);
  return found;
}

function missing({ noun }: Kind): ApiError {
  return notFound(`No ${noun} has this id.`);
}

function changedMeanwhile(now: object): ApiError {
  return new ApiError(
    "changed_meanwhile",
    "It was changed meanwhile, so this change was not made. Look at it as it is now, and try again.",
    { headers: { ETag: toEtag(now as { version: number }) }, members: { current: JSON.stringify(now) } }, // a version was expected
  );
}

/** SQL of a JSON object of these members, of a row in scope. */
export function jsonOf(
  members: Readonly<Record<string, SQLWrapper>>,
  names: readonly string[] = Object.keys(members),
): SQL {
  const named = Object.entries(members).filter(([name]) => names.includes(name));
  const pairs = named.map(([name, value]) => sql`${name}, ${value}`);
  return sql`json_object(${sql.join(pairs, sql`, `)})`;
}

/** A value or SQL for each member. An undefined value changes nothing. */
type Values<Table extends SQLiteTable> = { readonly [Member in keyof Table["$inferInsert"]]?: unknown };

export function insertRow<Table extends SQLiteTable>(table: Table, values: Values<Table>): Conditional {
  const entries = entriesIn(table, values);
  const columns = entries.map(({ column }) => column);
  const row = entries.map(({ value }) => value);
  return { head: sql`insert into ${table} (${sql.join(columns, sql`, `)}) select ${sql.join(row, sql`, `)}` };
}

/** The version of an object that the change inserts. */
export function versionOf(made: Made): SQL {
  return sql`(select id from ${made})`;
}

/** Stores these members of the entries in the rows, and further values, with the version. */
export function updateRows<Table extends SQLiteTable>(
  { table, stored = {} }: Pick<Kind, "stored"> & { readonly table: Table },
  made: Made,
  names: readonly string[],
  values: Values<Table> = {},
): Conditional {
  const members = names.map((name) => [name, stored[name] ?? sql`made.after ->> ${name}`]);
  const entries = entriesIn(table, { ...Object.fromEntries(members), ...values, version: sql`made.id` });
  const assignments = entries.map(({ column, value }) => sql`${column} = ${value}`);
  return {
    head: sql`update ${table} set ${sql.join(assignments, sql`, `)} from ${made} made`,
    where: sql`${table}.id = made.object`,
  };
}

function entriesIn(table: SQLiteTable, values: Readonly<Record<string, unknown>>) {
  return Object.entries(getTableColumns(table)).flatMap(([member, { name }]) =>
    values[member] === undefined ? [] : [{ column: sql.identifier(name), value: sql`${values[member]}` }],
  );
}
