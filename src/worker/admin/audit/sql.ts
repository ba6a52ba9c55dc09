/** D1: the audit log. A change and its audit row are in one batch, so neither exists without the other. */
import { and, desc, eq, getTableColumns, gte, lt, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type * as v from "valibot";
import type { Database } from "../../db/database.ts";
import { auditLog } from "../../db/schema.ts";
import { exactValue, parseExactJson } from "../../text/exact-json.ts";
import { nowSeconds, rfc3339 } from "../../text/time.ts";
import { fromCursor, pageOf, toCursor } from "../http/cursor.ts";
import { undoRefusal } from "../refusal-sql.ts";
import type { AuditView, auditPage, auditQuery } from "./schema.ts";

const entries = alias(auditLog, "entry");

/** A plan and an order have no name. Entries have the ids of customers, so that an erasure finds all names. */
const { transactionId: _, ...STORED } = getTableColumns(entries);
const NAMED = sql`(entry.before ->> '$.customer', entry.after ->> '$.customer', entry.after ->> '$.into')`;
const columnsAt = (nowSeconds: number) => ({
  ...STORED,
  objectName: sql<string | null>`(
    select name from api_keys where id = ${entries.object} union all select name from customers where id = ${entries.object})`,
  // Of a customer who was merged, only the entry of the merge has the name. The index is that of the object.
  names: sql<string>`(
    select json_group_object(id, name) from (
      select id, name from customers where id in ${NAMED}
      union all select object, before ->> '$.name' from audit_log where object in ${NAMED} and +call = 'customers.merge'))`,
  undoable: sql<number>`${undoRefusal(nowSeconds)} is null`,
});
type Entry = Omit<typeof auditLog.$inferSelect, "transactionId"> &
  Pick<AuditView, "objectName"> & { readonly names: string; readonly undoable: number };

/** Lists the entries in the order in which they were stored, the newest first. */
export async function listAudit(
  db: Database,
  query: v.InferOutput<typeof auditQuery> & { readonly objects?: readonly string[] },
): Promise<v.InferOutput<typeof auditPage>> {
  const { actor, call, object, objects, batch, from, to, limit } = query;
  const after = fromCursor("audit", query.after);
  const rows = await db
    .select(columnsAt(nowSeconds()))
    .from(entries)
    .where(
      and(
        actor === undefined ? undefined : eq(entries.actor, actor),
        call === undefined ? undefined : eq(entries.call, call),
        object === undefined ? undefined : eq(entries.object, object),
        objects && sql`${entries.object} in (select value from json_each(${JSON.stringify(objects)}))`,
        batch === undefined ? undefined : eq(entries.batch, batch),
        from === undefined ? undefined : gte(entries.at, from),
        to === undefined ? undefined : lt(entries.at, to),
        after && sql`${entries.id} < ${after.id}`,
      ),
    )
    .orderBy(desc(entries.id))
    .limit(limit + 1);
  const { shown, last } = pageOf(rows, limit);
  return { audit: shown.map(toView), next: toCursor("audit", last && { value: null, id: String(last.id) }) };
}

export async function findEntry(db: Database, id: string): Promise<AuditView | undefined> {
  const entry = await db
    .select(columnsAt(nowSeconds()))
    .from(entries)
    .where(sql`${entries.id} = ${id}`)
    .get();
  return entry && toView(entry);
}

function toView(entry: Entry): AuditView {
  const { at, before, after, names, undoable } = entry;
  return {
    ...entry,
    ...{ at: rfc3339(at), before: parsed(before), after: parsed(after) },
    ...{ names: JSON.parse(names), undoable: undoable === 1 },
  };
}

/** Integers of orders have 64 bits. */
function parsed(json: string | null): unknown {
  return json === null ? null : parseExactJson(json, exactValue);
}
