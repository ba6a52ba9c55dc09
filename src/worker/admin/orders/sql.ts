/** D1: finds and lists orders with their status, and lists cancelled orders. */
import { getTableColumns, type SQL, sql } from "drizzle-orm";
import type * as v from "valibot";
import { type Database, rfc3339Sql } from "../../db/database.ts";
import { orders } from "../../db/schema.ts";
import type { ORDER_STATUSES } from "../../db/values.ts";
import { notFound } from "../../platform/errors.ts";
import { isInt64 } from "../../text/int64.ts";
import { type Kind, requireTarget, type Target } from "../change.ts";
import { fromCursor, pageOf, toCursor } from "../http/cursor.ts";
import type { cancelledQuery, orderQuery } from "./schema.ts";

const COMPLETE_JSON = sql`json(case complete when 1 then 'true' when 0 then 'false' end)`;

/** The order with its status and version, as a JSON object with exact digits. */
export const ORDER_JSON = sql`
  json_object('id', id, 'petId', pet_id, 'quantity', quantity, 'shipDate', ship_date,
    'complete', ${COMPLETE_JSON}, 'status', status, 'version', version)`;

/** The columns of an `OrderText`. */
export const ORDER_TEXT = sql`${ORDER_JSON} as json, version, status`;

/** `json` is the text of the whole order. */
export type OrderText = {
  readonly json: string;
  readonly version: number;
  readonly status: (typeof ORDER_STATUSES)[number];
};

export const ORDERS = {
  table: orders,
  noun: "order",
  title: sql`'Order ' || orders.id`,
  members: { ...getTableColumns(orders), complete: COMPLETE_JSON },
} satisfies Kind;

/** Throws the 404 for a text that is no id, because SQLite would read "01" as 1. */
export function orderTarget(orderId: string): Target<OrderText, OrderText> {
  if (!isInt64(orderId)) throw notFound("No order has this id.");
  return {
    kind: ORDERS,
    id: orderId,
    select: sql`select ${ORDER_TEXT} from orders where id = ${orderId}`,
    view: (order) => order,
    json: ({ json }) => json,
  };
}

export async function requireOrder(db: Database, orderId: string): Promise<OrderText> {
  return requireTarget(db, orderTarget(orderId));
}

export async function findOrder(db: Database, orderId: string): Promise<OrderText | undefined> {
  return db.get<OrderText | undefined>(orderTarget(orderId).select);
}

type OrderQuery = v.InferOutput<typeof orderQuery>;

/**
 * Lists orders by id, as JSON with exact digits. Loads and cancels would write an index by status or pet.
 */
export async function listOrders(
  db: Database,
  { status, petId, limit, direction, ...query }: Omit<OrderQuery, "format">,
): Promise<{ readonly orders: readonly string[]; readonly next: string | null }> {
  const order = `orders ${direction}`;
  const after = fromCursor(order, query.after);
  const isMatch = matches({ status, petId });
  const [by, follows] = direction === "asc" ? [sql`asc`, sql`>`] : [sql`desc`, sql`<`];
  const isAfter = after === undefined ? sql`true` : sql`orders.id ${follows} ${after.id}`;
  const rows = await db.all<{ id: string; json: string }>(sql`
    select cast(id as text) as id, ${ORDER_JSON} as json from orders
    where ${isMatch} and ${isAfter} order by orders.id ${by} limit ${limit + 1}`);
  const { shown, last } = pageOf(rows, limit);
  return {
    orders: shown.map(({ json }) => json),
    next: toCursor(order, last && { value: null, id: last.id }),
  };
}

function matches({ status, petId }: Pick<OrderQuery, "status" | "petId">): SQL {
  return sql`(${status === undefined ? sql`true` : sql`status = ${status}`}
    and ${petId === undefined ? sql`true` : sql`pet_id = ${petId}`})`;
}

/** Lists cancelled orders, the newest first, as JSON objects with exact digits. */
export async function listCancelled(
  db: Database,
  query: v.InferOutput<typeof cancelledQuery>,
): Promise<{ readonly cancelled: readonly string[]; readonly next: string | null }> {
  const after = fromCursor("cancelled", query.after);
  const rows = await db.all<{ id: number; json: string }>(sql`
    select id, json_object('number', id, 'id', order_id, 'petId', pet_id, 'quantity', quantity,
      'shipDate', ship_date, 'complete', ${COMPLETE_JSON},
      'cancelledAt', ${rfc3339Sql(sql`cancelled_at`)},
      'cancelledBy', cancelled_by, 'cancelledByName', (select name from api_keys where id = cancelled_by),
      'requestId', request_id) as json
    from cancelled_orders where ${after === undefined ? sql`true` : sql`id < ${after.id}`}
    order by id desc limit ${query.limit + 1}`);
  const { shown, last } = pageOf(rows, query.limit);
  return {
    cancelled: shown.map(({ json }) => json),
    next: toCursor("cancelled", last && { value: null, id: String(last.id) }),
  };
}
