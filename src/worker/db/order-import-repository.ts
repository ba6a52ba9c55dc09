/** D1: imports orders a chunk at a time, with the figures of the whole import (ADR-20). */
import { desc, lt, type SQL, sql } from "drizzle-orm";
import type { OrderLine } from "../orders/order-line.ts";
import { type Author, audit } from "./audit-repository.ts";
import { type Database, type Statement, transact } from "./database.ts";
import { orderImports } from "./order-schema.ts";
import { ORDER_STATUSES } from "./values.ts";

/** Some 100 kB as one bound string: well within D1's 2 MB, and few round trips. */
export const ORDERS_PER_IMPORT_CHUNK = 1_000;

/** Orders of an import. A line that is repeated within a chunk counts as an update if its order changes. */
export type ImportCounts = {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  /** Orders that were cancelled before, and are left so. */
  readonly cancelled: number;
  /** Among the inserted: orders that were cancelled before. */
  readonly reinserted: number;
  readonly refused: number;
  /** Among the updated: orders whose status goes back, such as from delivered to pending. */
  readonly backwards: number;
};

export type ImportRow = typeof orderImports.$inferSelect;

export type NewImport = Pick<ImportRow, "id" | "file" | "startedAtMs">;

export async function findImport(db: Database, id: string): Promise<ImportRow | undefined> {
  return db.select().from(orderImports).where(sql`${orderImports.id} = ${id}`).get();
}

/** Newest first. */
export async function listImports(
  db: Database,
  before: number | undefined,
  limit: number,
): Promise<ImportRow[]> {
  return db
    .select()
    .from(orderImports)
    .where(before === undefined ? undefined : lt(orderImports.number, before))
    .orderBy(desc(orderImports.number))
    .limit(limit);
}

/** A part of an import, and what the import had counted before it. */
export type ImportPart = {
  readonly import: NewImport;
  readonly before: ImportCounts;
  readonly lines: readonly OrderLine[];
  /** Whether an order that was cancelled is inserted again. */
  readonly restoresCancelled: boolean;
  /** Lines that were refused since the last part. */
  readonly refused: number;
  /** Whether nothing after this part is read, because too many lines were refused. */
  readonly isStopped: boolean;
  readonly nowMs: number;
};

/**
 * One transaction: all orders of the part or none, the figures of the import, and with the first part the audit row. Returns the figures. Of two lines with the same id, the later one is stored. An unchanged order is
 * not written.
 */
export async function importPart(db: Database, author: Author, part: ImportPart): Promise<ImportCounts> {
  const chunk = chunkOf(part.lines, part.restoresCancelled);
  const { id, file } = part.import;
  const isFirst = sql`not exists (select 1 from order_imports where id = ${id})`;
  const storing = part.lines.length === 0 ? [] : storeOrders(chunk);
  const [, [figures]] = await transact<[never, ImportCounts, ...never[]]>(db, [
    audit(db, author, { call: "orders.import", object: id, after: { file } }, isFirst),
    addToFigures(author, part, chunk),
    ...storing,
  ]);
  if (!figures) throw new Error("the batch returned no figures");
  return figures;
}

/** What `importPart` would count. Changes nothing. */
export async function countPart(
  db: Database,
  lines: readonly OrderLine[],
  restoresCancelled: boolean,
): Promise<Omit<ImportCounts, "refused">> {
  const query = countsOf(chunkOf(lines, restoresCancelled));
  const [counts] = await db.all<Omit<ImportCounts, "refused">>(query);
  if (!counts) throw new Error("an aggregate returned no row");
  return counts;
}

/** In D1's message if the part does not follow what is stored of the import. */
export const PART_DOES_NOT_FOLLOW = "NOT NULL constraint failed: order_imports.inserted";

/**
 * Fails if the import belongs to another operator, or has counted something else than the part expects. It can also be gone
 * between two parts: by a restore of the database.
 */
function addToFigures(author: Author, part: ImportPart, chunk: Chunk): SQL {
  const { id, file, startedAtMs } = part.import;
  const { before } = part;
  const isBegun = Object.values(before).some((count) => count > 0);
  const follows = isBegun ? sql`exists (select 1 from order_imports where id = ${id})` : sql`true`;
  return sql`
    insert into order_imports
      (id, file, actor, started_at_ms, stored_at_ms, inserted, updated, unchanged, cancelled, reinserted, refused,
        backwards, stopped)
    select ${id}, ${file}, ${author.actor}, cast(${startedAtMs} as integer), cast(${part.nowMs} as integer),
      iif(${follows}, inserted, null), updated, unchanged, cancelled, reinserted, cast(${part.refused} as integer),
      backwards, cast(${Number(part.isStopped)} as integer)
    from (${countsOf(chunk)}) where true
    on conflict (id) do update set
      inserted = iif(
        actor = excluded.actor and (inserted, updated, unchanged, cancelled, refused)
          = (${before.inserted}, ${before.updated}, ${before.unchanged}, ${before.cancelled}, ${before.refused}),
        inserted + excluded.inserted, null),
      updated = updated + excluded.updated,
      unchanged = unchanged + excluded.unchanged,
      cancelled = cancelled + excluded.cancelled,
      reinserted = reinserted + excluded.reinserted,
      refused = refused + excluded.refused,
      backwards = backwards + excluded.backwards,
      stopped = excluded.stopped,
      stored_at_ms = excluded.stored_at_ms
    returning inserted, updated, unchanged, cancelled, reinserted, refused, backwards`;
}

/** Whether the line's order was cancelled, and is not stored again since. */
const IS_CANCELLED = sql`(o.id is null and exists (select 1 from cancelled_orders where order_id = line.id))`;

/** Whether the line's order is new. A client's cancel is final, unless the operator says otherwise. */
function isInserted({ restoresCancelled }: Chunk): SQL {
  return restoresCancelled ? sql`(o.id is null)` : sql`(o.id is null and not ${IS_CANCELLED})`;
}

/** Whether the line changes the stored order. */
const IS_CHANGED = sql`
  (o.pet_id, o.quantity, o.ship_date, o.complete, o.status)
    is not (line.pet_id, line.quantity, line.ship_date, line.complete, coalesce(line.status, o.status))`;

/** A status as a number that rises with each step of an order; null for null. */
const stepOf = (status: SQL) =>
  sql`case ${status} ${sql.raw(ORDER_STATUSES.map((each, i) => `when '${each}' then ${i}`).join(" "))} end`;

function countsOf(chunk: Chunk): SQL {
  return sql`
    select coalesce(sum(${isInserted(chunk)}), 0) as inserted,
      coalesce(sum(iif(${isInserted(chunk)}, line.lines - 1, iif(o.id is not null and ${IS_CHANGED}, line.lines, 0))), 0)
        as updated,
      coalesce(sum(iif(o.id is not null and not (${IS_CHANGED}), line.lines, 0)), 0) as unchanged,
      coalesce(sum(iif(o.id is null and not ${isInserted(chunk)}, line.lines, 0)), 0) as cancelled,
      ${chunk.restoresCancelled ? sql`coalesce(sum(${IS_CANCELLED}), 0)` : sql`0`} as reinserted,
      coalesce(sum(${stepOf(sql`line.status`)} < ${stepOf(sql`o.status`)}), 0) as backwards
    from (${linesOf(chunk)}) as line left join orders o on o.id = line.id`;
}

function storeOrders(chunk: Chunk): Statement[] {
  return [
    sql`
      update orders as o set pet_id = line.pet_id, quantity = line.quantity, ship_date = line.ship_date,
        complete = line.complete, status = coalesce(line.status, o.status), version = o.version + 1
      from (${linesOf(chunk)}) as line
      where o.id = line.id and ${IS_CHANGED}`,
    sql`
      insert into orders (id, pet_id, quantity, ship_date, complete, status)
      select line.id, line.pet_id, line.quantity, line.ship_date, line.complete, coalesce(line.status, 'pending')
      from (${linesOf(chunk)}) as line left join orders o on o.id = line.id
      where ${isInserted(chunk)}`,
  ];
}

/** Orders that are stored or counted at once. */
type Chunk = { readonly json: string; readonly restoresCancelled: boolean };

type MergedLine = { readonly order: OrderLine; readonly lines: number };

/** JSON of the orders, whose integers SQLite reads with all their digits. Arrays, because each part is bound three times. */
function chunkOf(lines: readonly OrderLine[], restoresCancelled: boolean): Chunk {
  const merged = new Map<string, MergedLine>();
  for (const line of lines) {
    const earlier = merged.get(line.id);
    const status = line.status ?? earlier?.order.status ?? null;
    merged.set(line.id, { order: { ...line, status }, lines: (earlier?.lines ?? 0) + 1 });
  }
  return { json: `[${[...merged.values()].map(toJson).join(",")}]`, restoresCancelled };
}

/** Not `JSON.stringify` alone, since ids are text that must become JSON numbers with the same digits. */
function toJson({ order, lines }: MergedLine): string {
  const others = [order.shipDate, order.complete, order.status, lines];
  return `[${order.id},${order.petId},${order.quantity},${JSON.stringify(others).slice(1)}`;
}

function linesOf({ json }: Chunk): SQL {
  return sql`
    select value ->> 0 as id, value ->> 1 as pet_id, value ->> 2 as quantity, value ->> 3 as ship_date,
      value ->> 4 as complete, value ->> 5 as status, value ->> 6 as lines
    from json_each(${json})`;
}
