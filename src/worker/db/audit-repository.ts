/** D1: the audit log. A change and its audit row go into one batch, so that there is never one without the other. */
import { and, desc, eq, gte, lt, SQL, sql } from "drizzle-orm";
import { exactNumber, parseExactJson } from "../exact-json.ts";
import { rfc3339 } from "../time.ts";
import type { Database } from "./database.ts";
import { toImportFigures } from "./order-import-view.ts";
import { orderImports } from "./order-schema.ts";
import { auditLog } from "./schema.ts";
import type { AuditCall } from "./values.ts";

/** Who makes a change, in which request, and when (Unix seconds). */
export type Author = {
  readonly requestId: string;
  readonly actor: string;
  readonly at: number;
};

export type Change = {
  readonly call: AuditCall;
  /** The id of the key, plan or order that changed. */
  readonly object: string;
  /** A value, or SQL that gives the JSON text when the batch runs. */
  readonly before?: unknown;
  readonly after?: unknown;
};

export type AuditView = {
  readonly id: number;
  readonly at: string;
  readonly requestId: string;
  readonly actor: string;
  readonly call: string;
  readonly object: string;
  readonly before: unknown;
  readonly after: unknown;
};

/** In a batch, whether a row follows from the condition of its change. */
export type Audited = { readonly id: number };

/**
 * Returns an `Audited` row if it writes one. `before` and `after` hold the changed fields and no secret: a secret's hint, never the
 * secret. A conditional change passes its condition as `onlyIf`; its own statements follow in the batch, and have `isAudited`.
 */
export function audit(db: Database, author: Author, change: Change, onlyIf: SQL = sql`true`) {
  const [before, after] = [change.before, change.after].map((value) =>
    value instanceof SQL ? value : (JSON.stringify(value) ?? null),
  );
  return db
    .insert(auditLog)
    .select(sql`
      select null, cast(${author.at} as integer), ${author.requestId}, ${author.actor}, ${change.call},
        ${change.object}, ${before}, ${after} where ${onlyIf}`)
    .returning({ id: auditLog.id });
}

/** Whether this batch has written the change's audit row, which is then the last one. */
export function isAudited({ requestId }: Author, { call, object }: Change): SQL {
  return sql`
    (${requestId}, ${call}, ${object}) = (
      select request_id, call, object from audit_log where id = (select max(id) from audit_log))`;
}

/**
 * For `before`: the named members of the row, read in the transaction of the change, since another change may be stored
 * between an earlier read and the batch. Its audit row comes before the change in the batch.
 */
export function selectMembers(
  members: Readonly<Record<string, SQL>>,
  names: readonly string[],
  row: SQL,
): SQL {
  const named = Object.entries(members).filter(([name]) => names.includes(name));
  const pairs = named.map(([name, value]) => sql`${name}, ${value}`);
  return sql`(select json_object(${sql.join(pairs, sql`, `)}) from ${row})`;
}

export type AuditFilter = {
  readonly actor?: string | undefined;
  readonly call?: AuditCall | undefined;
  readonly object?: string | undefined;
  /** Unix seconds, inclusive. */
  readonly from?: number | undefined;
  /** Unix seconds, exclusive. */
  readonly to?: number | undefined;
  /** The id of the last entry of the page before. */
  readonly before?: number | undefined;
  readonly limit: number;
};

export type AuditPage = {
  readonly entries: readonly AuditView[];
  /** The id to go on before; null on the last page. */
  readonly next: number | null;
};

/** A page whose filters have no common index reads this many rows for each entry that it may show. */
const MAX_ROWS_READ_PER_ENTRY_SHOWN = 3;
/** A small page reads this many, so that a search for few entries does not need many pages. */
const MIN_ROWS_READ = 300;

/** Newest first. A page with a filter can have fewer entries than `limit`, or none, although more follow. */
export async function listAudit(db: Database, filter: AuditFilter): Promise<AuditPage> {
  const { limit } = filter;
  const { indexed, others } = conditionsOf(filter);
  const maxRead =
    others.length === 0 ? limit : Math.max(MIN_ROWS_READ, MAX_ROWS_READ_PER_ENTRY_SHOWN * limit);
  const rows = await db
    .select({ id: auditLog.id, isMatch: sql<number>`${and(sql`true`, ...others)}` })
    .from(auditLog)
    .where(and(...indexed))
    .orderBy(desc(auditLog.id))
    .limit(maxRead + 1);
  const read = rows.slice(0, maxRead);
  const matching = read.filter(({ isMatch }) => isMatch === 1).slice(0, limit);
  const last = matching[limit - 1] ?? read.at(-1);
  const ids = matching.map(({ id }) => id);
  return {
    entries: ids.length === 0 ? [] : await findEntries(db, ids),
    next: last !== undefined && last.id !== rows.at(-1)?.id ? last.id : null,
  };
}

/**
 * The changes of one object by time, newest first: those after a place in a list that may have other entries, too. The place's id is that
 * of an audit row as 16 digits, or any other text.
 */
export async function listChangesOf(
  db: Database,
  object: string,
  after: { readonly value: number; readonly id: string } | undefined,
  limit: number,
): Promise<AuditView[]> {
  const isAfter =
    after && sql`(${auditLog.at}, printf('%016d', ${auditLog.id})) < (${after.value}, ${after.id})`;
  const rows = await db
    .select({ id: auditLog.id })
    .from(auditLog)
    .where(and(eq(auditLog.object, object), isAfter))
    .orderBy(desc(auditLog.at), desc(auditLog.id))
    .limit(limit);
  const ids = rows.map(({ id }) => id);
  return findEntries(db, ids);
}

/** One equality, whose index has the entries by id, and the range of ids. The others are checked for each row that is read. */
function conditionsOf({ actor, call, object, from, to, before }: AuditFilter) {
  const [first, ...further] = [
    ...(object === undefined ? [] : [eq(auditLog.object, object)]),
    ...(actor === undefined ? [] : [eq(auditLog.actor, actor)]),
    ...(call === undefined ? [] : [eq(auditLog.call, call)]),
  ];
  return {
    indexed: [
      first,
      before === undefined ? undefined : lt(auditLog.id, before),
      from === undefined ? undefined : isAfterIdOf(from),
      to === undefined ? undefined : isBeforeIdOf(to),
    ],
    others: [
      ...further,
      ...(from === undefined ? [] : [gte(auditLog.at, from)]),
      ...(to === undefined ? [] : [lt(auditLog.at, to)]),
    ],
  };
}

/** `at` is when the change began, and ids are in the order of storing. A change is stored within this time. */
const MAX_SECONDS_UNTIL_STORED = 3_600;

function isAfterIdOf(from: number): SQL {
  return sql`${auditLog.id} > coalesce((
    select id from audit_log where at < ${from - MAX_SECONDS_UNTIL_STORED} order by at desc, id desc limit 1), 0)`;
}

function isBeforeIdOf(to: number): SQL {
  return sql`${auditLog.id} < coalesce((
    select id from audit_log where at >= ${to + MAX_SECONDS_UNTIL_STORED} order by at, id limit 1), 9e18)`;
}

async function findEntries(db: Database, ids: readonly number[]): Promise<AuditView[]> {
  const rows = await db
    .select({ entry: auditLog, import: orderImports })
    .from(auditLog)
    .leftJoin(orderImports, eq(orderImports.id, auditLog.object))
    .where(sql`${auditLog.id} in (select value from json_each(${JSON.stringify(ids)}))`)
    .orderBy(desc(auditLog.id));
  return rows.map(({ entry, import: imported }) => ({
    ...entry,
    at: rfc3339(entry.at),
    before: parsed(entry.before),
    // The row of an import is written with its first chunk and never changes, so its figures are in a row of their own.
    after: imported && entry.call === "orders.import" ? toImportFigures(imported) : parsed(entry.after),
  }));
}

/** An order has integers of 64 bits. */
function parsed(json: string | null): unknown {
  return json === null ? null : parseExactJson(json, exactNumber);
}
