/** D1: the audit log. A change and its audit row go into one batch, so that there is never one without the other. */
import { and, desc, eq, lt, SQL, sql } from "drizzle-orm";
import { exactNumber, parseExactJson } from "../exact-json.ts";
import { rfc3339 } from "../time.ts";
import type { Database } from "./database.ts";
import { toImportFigures } from "./order-import-view.ts";
import { orderImports } from "./order-schema.ts";
import { auditLog } from "./schema.ts";

/** Who makes a change, in which request, and when (Unix seconds). */
export type Author = { readonly requestId: string; readonly actor: string; readonly at: number };

export type Change = {
  /** The operation, such as `keys.rotate`. */
  readonly call: string;
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

/**
 * `before` and `after` hold the changed fields and no secret: a secret's hint, never the secret. A conditional change
 * passes its condition as `onlyIf`, and follows its audit row in the batch, since the change may make it false.
 */
export function audit(db: Database, author: Author, change: Change, onlyIf: SQL = sql`true`) {
  const [before, after] = [change.before, change.after].map((value) =>
    value instanceof SQL ? value : (JSON.stringify(value) ?? null),
  );
  return db.insert(auditLog).select(sql`
    select null, cast(${author.at} as integer), ${author.requestId}, ${author.actor}, ${change.call},
      ${change.object}, ${before}, ${after} where ${onlyIf}`);
}

export type AuditFilter = {
  readonly object?: string | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
};

/** Newest first. */
export async function listAudit(db: Database, filter: AuditFilter): Promise<AuditView[]> {
  const conditions: SQL[] = [];
  if (filter.object !== undefined) conditions.push(eq(auditLog.object, filter.object));
  if (filter.before !== undefined) conditions.push(lt(auditLog.id, filter.before));
  const rows = await db
    .select({ entry: auditLog, import: orderImports })
    .from(auditLog)
    .leftJoin(orderImports, eq(orderImports.id, auditLog.object))
    .where(and(...conditions))
    .orderBy(desc(auditLog.id))
    .limit(filter.limit);
  return rows.map(({ entry, import: imported }) => ({
    ...entry,
    at: rfc3339(entry.at),
    before: parsed(entry.before),
    // The row of an import is written with its first chunk and never changes, so its figures are in a row of their own.
    after: imported && entry.call === "orders.import" ? toImportFigures(imported) : parsed(entry.after),
  }));
}

/** A deleted order has integers of 64 bits. */
function parsed(json: string | null): unknown {
  return json === null ? null : parseExactJson(json, exactNumber);
}
