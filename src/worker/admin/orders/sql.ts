/** D1: finds and lists orders with their status, and lists cancelled orders. */
import { getTableColumns, sql } from "drizzle-orm";
import type * as v from "valibot";
import { type Database, rfc3339Sql } from "../../db/database.ts";
import { orders } from "../../db/schema.ts";
import { notFound } from "../../platform/errors.ts";
import { isInt64 } from "../../text/int64.ts";
import type { Kind, Target } from "../change.ts";
import { fromCursor, pageOf, toCursor } from "../http/cursor.ts";
import type {
  CancelledOrder,
  cancelledPage,
  cancelledQuery,
  OrderView,
  orderPage,
  orderQuery,
} from "./schema.ts";

const COMPLETE_JSON = sql`json(case complete when 1 then 'true' when 0 then 'false' end)`;

/** JSON text that SQLite wrote. Integers of 64 bits are text in it: numbers of JavaScript have 53. */
type Row = { readonly json: string };

const MEMBERS = sql`'petId', cast(pet_id as text), 'quantity', cast(quantity as text), 'shipDate', ship_date,
  'complete', ${COMPLETE_JSON}`;

const ORDER = sql`json_object('id', cast(id as text), ${MEMBERS}, 'status', status, 'version', version) as json`;

export const ORDERS = {
  table: orders,
  noun: "order",
  title: sql`'Order ' || orders.id`,
  members: { ...getTableColumns(orders), complete: COMPLETE_JSON },
} satisfies Kind;

/** Throws the 404 for a text that is no id, because SQLite would read "01" as 1. */
export function orderTarget(orderId: string): Target<Row, OrderView> {
  if (!isInt64(orderId)) throw notFound("No order has this id.");
  return {
    kind: ORDERS,
    id: orderId,
    select: sql`select ${ORDER} from orders where id = ${orderId}`,
    view: ({ json }) => JSON.parse(json),
  };
}

type OrderQuery = v.InferOutput<typeof orderQuery>;

/** Lists orders by id. Loads and cancels would write an index by status or pet. */
export async function listOrders(
  db: Database,
  { status, petId, limit, direction, ...query }: Omit<OrderQuery, "format">,
): Promise<v.InferOutput<typeof orderPage>> {
  const order = `orders ${direction}`;
  const after = fromCursor(order, query.after);
  const isMatch = sql`${status === undefined ? sql`true` : sql`status = ${status}`}
    and ${petId === undefined ? sql`true` : sql`pet_id = ${petId}`}`;
  const [by, follows] = direction === "asc" ? [sql`asc`, sql`>`] : [sql`desc`, sql`<`];
  const isAfter = after === undefined ? sql`true` : sql`orders.id ${follows} ${after.id}`;
  const rows = await db.all<Row>(
    sql`select ${ORDER} from orders where ${isMatch} and ${isAfter} order by orders.id ${by} limit ${limit + 1}`,
  );
  const { shown, last } = pageOf<OrderView>(
    rows.map(({ json }) => JSON.parse(json)),
    limit,
  );
  return { orders: [...shown], next: toCursor(order, last && { value: null, id: last.id }) };
}

/** Lists cancelled orders, the newest first. */
export async function listCancelled(
  db: Database,
  query: v.InferOutput<typeof cancelledQuery>,
): Promise<v.InferOutput<typeof cancelledPage>> {
  const after = fromCursor("cancelled", query.after);
  const rows = await db.all<Row>(sql`
    select json_object('number', id, 'id', cast(order_id as text), ${MEMBERS},
      'cancelledAt', ${rfc3339Sql(sql`cancelled_at`)},
      'cancelledBy', cancelled_by, 'cancelledByName', (select name from api_keys where id = cancelled_by),
      'requestId', request_id) as json
    from cancelled_orders where ${after === undefined ? sql`true` : sql`id < ${after.id}`}
    order by id desc limit ${query.limit + 1}`);
  const { shown, last } = pageOf<CancelledOrder>(
    rows.map(({ json }) => JSON.parse(json)),
    query.limit,
  );
  return {
    cancelled: [...shown],
    next: toCursor("cancelled", last && { value: null, id: String(last.number) }),
  };
}
