/** D1: the audit log. A change and its audit row are in one batch, so neither exists without the other. */
import { and, desc, eq, getTableColumns, gte, lt, SQL, sql } from "drizzle-orm";
import type * as v from "valibot";
import type { Author } from "../../context.ts";
import type { Database } from "../../db/database.ts";
import { auditLog } from "../../db/schema.ts";
import { type AuditCall, UNDOABLE_CALLS } from "../../db/values.ts";
import { exactNumber, parseExactJson } from "../../text/exact-json.ts";
import { rfc3339 } from "../../text/time.ts";
import { fromCursor, pageOf, toCursor } from "../http/cursor.ts";
import type { AuditView, auditPage, auditQuery } from "./schema.ts";

export type Change = {
  readonly call: AuditCall;
  /** The id of the key, plan or order that changed, or SQL of it. */
  readonly object: string | SQL;
  /** `before` and `after` are values, or SQL that gives the JSON text when the batch runs. */
  readonly before?: unknown;
  readonly after?: unknown;
};

/**
 * Writes an audit row for each row of `from` that meets `onlyIf`, and returns the ids. The condition and the
 * values can read the columns of `from`. `before` and `after` never have a secret, only its hint.
 */
export function audit(
  db: Database,
  author: Author,
  change: Change,
  onlyIf: SQL = sql`true`,
  from: SQL = sql`select true`,
) {
  const [before, after] = [change.before, change.after].map((value) =>
    value instanceof SQL ? value : (JSON.stringify(value) ?? null),
  );
  return db
    .insert(auditLog)
    .select(sql`
      select null, cast(${author.at} as integer), ${author.requestId}, ${author.actor}, ${change.call},
        ${change.object}, ${before}, ${after} from (${from}) where ${onlyIf}`)
    .returning({ id: auditLog.id });
}

/** The audit row of a change: a request makes a change of an object once. */
function rowOf(author: Author, { call, object }: Pick<Change, "call" | "object">): SQL {
  return sql`${rowsOf(author, call)} and +object = ${object}`;
}

/** True if the audit row of the change was written. */
export function isAudited(author: Author, change: Change): SQL {
  return sql`exists (select 1 from ${rowOf(author, change)})`;
}

/** The audit rows that a request wrote of one kind of change. */
export function rowsOf({ at, requestId }: Pick<Author, "at" | "requestId">, call: AuditCall): SQL {
  // With a `+`, SQLite looks only among the rows of this second.
  return sql`audit_log where at = ${at} and request_id = ${requestId} and +call = ${call}`;
}

/**
 * Reads a time of `after` in the audit row of the change, in Unix seconds. Each statement of a batch reads
 * the clock anew, so two statements could have two times.
 */
export function auditedTime(author: Author, change: Pick<Change, "call" | "object">, member: string): SQL {
  return sql`(select unixepoch(json_extract(after, ${`$.${member}`})) from ${rowOf(author, change)})`;
}

/** Later entries of an object come in order, so one with the same member is soon found. */
const IS_UNDOABLE = sql<number>`case
  when call = 'orders.load' then exists (select 1 from loads where loads.id = audit_log.id)
  when call like 'orders.%' and not exists (select 1 from orders where orders.id = cast(object as integer)) then false
  else call in ${UNDOABLE_CALLS} and not exists (
    select 1 from audit_log later, json_each(later.after) member
    where later.object = audit_log.object and later.id > audit_log.id
      and json_type(audit_log.after, '$.' || member.key) is not null)
  end`;

/** A plan and an order have no name. */
const COLUMNS = {
  ...getTableColumns(auditLog),
  objectName: sql<string | null>`(select name from api_keys where id = ${auditLog.object})`,
  undoable: IS_UNDOABLE,
};
type Entry = typeof auditLog.$inferSelect & Pick<AuditView, "objectName"> & { readonly undoable: number };

/** Lists the entries in the order in which they were stored, the newest first. */
export async function listAudit(
  db: Database,
  query: v.InferOutput<typeof auditQuery>,
): Promise<v.InferOutput<typeof auditPage>> {
  const { actor, call, object, from, to, limit } = query;
  const after = fromCursor("audit", query.after);
  const rows = await db
    .select(COLUMNS)
    .from(auditLog)
    .where(
      and(
        actor === undefined ? undefined : eq(auditLog.actor, actor),
        call === undefined ? undefined : eq(auditLog.call, call),
        object === undefined ? undefined : eq(auditLog.object, object),
        from === undefined ? undefined : gte(auditLog.at, from),
        to === undefined ? undefined : lt(auditLog.at, to),
        after && sql`${auditLog.id} < ${after.id}`,
      ),
    )
    .orderBy(desc(auditLog.id))
    .limit(limit + 1);
  const { shown, last } = pageOf(rows, limit);
  return { audit: shown.map(toView), next: toCursor("audit", last && { value: null, id: String(last.id) }) };
}

export async function findEntry(db: Database, id: string): Promise<AuditView | undefined> {
  const entry = await db.select(COLUMNS).from(auditLog).where(sql`${auditLog.id} = ${id}`).get();
  return entry && toView(entry);
}

function toView(entry: Entry): AuditView {
  const { at, before, after, undoable } = entry;
  return {
    ...entry,
    ...{ at: rfc3339(at), before: parsed(before), after: parsed(after), undoable: undoable === 1 },
  };
}

/** Keeps the integers of orders, which have 64 bits. */
function parsed(json: string | null): unknown {
  return json === null ? null : parseExactJson(json, exactNumber);
}
