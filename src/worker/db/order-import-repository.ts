/** D1: imports orders a chunk at a time, changes one, and lists cancelled ones. */
import { type SQL, sql } from "drizzle-orm";
import type { OrderLine } from "../orders/order-line.ts";
import { type Database, rfc3339Sql, type Statement, transact } from "./database.ts";

/** Some 160 kB as one bound string: well within D1's 2 MB, and few round trips. */
export const ORDERS_PER_IMPORT_CHUNK = 1_000;

export type ChunkCounts = { readonly inserted: number; readonly updated: number };

/**
 * One transaction: all of the chunk's orders or none. The chunk travels as one JSON text, whose integers SQLite reads
 * with all their digits. Of two lines with the same id, the later one is stored. An unchanged order is not written.
 */
export async function importChunk(
  db: Database,
  lines: readonly OrderLine[],
  auditRow: Statement,
): Promise<ChunkCounts> {
  const orders = withoutRepeats(lines);
  const chunk = `[${orders.map(toJson).join(",")}]`;
  const [[known]] = await transact<[{ count: number }, never, never, never]>(db, [
    sql`select count(*) as count from orders where id in (select value ->> 'id' from json_each(${chunk}))`,
    sql`
      update orders set pet_id = line.pet_id, quantity = line.quantity, ship_date = line.ship_date,
        complete = line.complete, status = coalesce(line.status, orders.status)
      from (${linesOf(chunk)}) as line
      where orders.id = line.id
        and (orders.pet_id, orders.quantity, orders.ship_date, orders.complete, orders.status)
          is not (line.pet_id, line.quantity, line.ship_date, line.complete, coalesce(line.status, orders.status))`,
    sql`
      insert into orders (id, pet_id, quantity, ship_date, complete, status)
      select id, pet_id, quantity, ship_date, complete, coalesce(status, 'pending') from (${linesOf(chunk)}) as line
      where not exists (select 1 from orders where orders.id = line.id)`,
    auditRow,
  ]);
  const inserted = orders.length - (known?.count ?? 0);
  return { inserted, updated: lines.length - inserted };
}

function withoutRepeats(lines: readonly OrderLine[]): OrderLine[] {
  const orders = new Map<string, OrderLine>();
  for (const line of lines) {
    orders.set(line.id, { ...line, status: line.status ?? orders.get(line.id)?.status ?? null });
  }
  return [...orders.values()];
}

function linesOf(chunk: string) {
  return sql`
    select value ->> 'id' as id, value ->> 'petId' as pet_id, value ->> 'quantity' as quantity,
      value ->> 'shipDate' as ship_date, value ->> 'complete' as complete, value ->> 'status' as status
    from json_each(${chunk})`;
}

/** Not `JSON.stringify` alone, since ids are text that must become JSON numbers with the same digits. */
function toJson(order: OrderLine): string {
  const text = { shipDate: order.shipDate, complete: order.complete, status: order.status };
  return `{"id":${order.id},"petId":${order.petId},"quantity":${order.quantity},${JSON.stringify(text).slice(1)}`;
}

export type OrderChanges = {
  readonly status?: string | undefined;
  readonly complete?: boolean | null | undefined;
  readonly shipDate?: string | null | undefined;
  readonly quantity?: number | null | undefined;
};

const COMPLETE_JSON = sql`json(case complete when 1 then 'true' when 0 then 'false' end)`;

/** The order with its status, as a JSON object with exact digits. */
const ORDER_JSON = sql`
  json_object('id', id, 'petId', pet_id, 'quantity', quantity, 'shipDate', ship_date,
    'complete', ${COMPLETE_JSON}, 'status', status)`;

/** Sets the given members; null removes one. Returns the order as JSON text, or no row if it does not exist any more. */
export function updateOrderRow(orderId: string, changes: OrderChanges): Statement {
  const assignments = [
    changes.status === undefined ? undefined : sql`status = ${changes.status}`,
    changes.complete === undefined ? undefined : sql`complete = ${changes.complete}`,
    changes.shipDate === undefined ? undefined : sql`ship_date = ${changes.shipDate}`,
    changes.quantity === undefined ? undefined : sql`quantity = ${changes.quantity}`,
  ].filter((assignment) => assignment !== undefined);
  return sql`
    update orders set ${sql.join(assignments, sql`, `)} where id = ${orderId} returning ${ORDER_JSON} as json`;
}

/** Whether the order still exists at this point of the batch. */
export function orderExists(orderId: string): SQL {
  return sql`exists (select 1 from orders where id = ${orderId})`;
}

/** The order with its status as JSON text; undefined if there is none. */
export async function findOrderJson(db: Database, orderId: string): Promise<string | undefined> {
  const [row] = await db.all<{ json: string }>(sql`
    select ${ORDER_JSON} as json from orders where id = ${orderId}`);
  return row?.json;
}

/** Newest first, as JSON objects with exact digits. */
export async function listCancelledJson(
  db: Database,
  before: number | undefined,
  limit: number,
): Promise<{ id: number; json: string }[]> {
  return db.all<{ id: number; json: string }>(sql`
    select id, json_object('number', id, 'id', order_id, 'petId', pet_id, 'quantity', quantity,
      'shipDate', ship_date, 'complete', ${COMPLETE_JSON},
      'cancelledAt', ${rfc3339Sql(sql`cancelled_at`)},
      'cancelledBy', cancelled_by, 'requestId', request_id) as json
    from cancelled_orders where ${before === undefined ? sql`true` : sql`id < ${before}`}
    order by id desc limit ${limit}`);
}
