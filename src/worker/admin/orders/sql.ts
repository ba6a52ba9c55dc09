/** D1: orders as operators see them, with their status: lists, finds, changes and deletes them, and lists cancelled ones. */
import { type SQL, sql } from "drizzle-orm";
import { type Database, hasVersion, rfc3339Sql, type Statement } from "../../db/database.ts";
import { ORDER_STATUSES } from "../../db/values.ts";
import { selectMembers } from "../audit/sql.ts";

export type OrderChanges = {
  readonly status?: (typeof ORDER_STATUSES)[number] | undefined;
  readonly complete?: boolean | null | undefined;
  readonly shipDate?: string | null | undefined;
  readonly quantity?: number | null | undefined;
};

const COMPLETE_JSON = sql`json(case complete when 1 then 'true' when 0 then 'false' end)`;

/** The order with its status and version, as a JSON object with exact digits. */
const ORDER_JSON = sql`
  json_object('id', id, 'petId', pet_id, 'quantity', quantity, 'shipDate', ship_date,
    'complete', ${COMPLETE_JSON}, 'status', status, 'version', version)`;

/** `json` is the text of the whole order. */
export type OrderText = {
  readonly json: string;
  readonly version: number;
  readonly status: (typeof ORDER_STATUSES)[number];
};

const CHANGEABLE: Readonly<Record<keyof OrderChanges, SQL>> = {
  quantity: sql`quantity`,
  shipDate: sql`ship_date`,
  complete: COMPLETE_JSON,
  status: sql`status`,
};

/** For the audit log: these members of the order, as the change replaces them. */
export function selectOrderMembers(orderId: string, names: readonly string[]): SQL {
  return selectMembers(CHANGEABLE, names, sql`orders where id = ${orderId}`);
}

/** Sets the given members; null removes one. */
export function updateOrderRow(orderId: string, changes: OrderChanges, condition: SQL): Statement {
  const assignments = [
    changes.status === undefined ? undefined : sql`status = ${changes.status}`,
    changes.complete === undefined ? undefined : sql`complete = ${changes.complete}`,
    changes.shipDate === undefined ? undefined : sql`ship_date = ${changes.shipDate}`,
    changes.quantity === undefined ? undefined : sql`quantity = ${changes.quantity}`,
  ].filter((assignment) => assignment !== undefined);
  return sql`
    update orders set ${sql.join(assignments, sql`, `)}, version = version + 1
    where id = ${orderId} and ${condition}`;
}

/** Whether the order's status comes before the new one, or is the same. A condition of a row of orders. */
export function isForward({ status }: OrderChanges, allowBackwards: boolean): SQL {
  if (status === undefined || allowBackwards) return sql`true`;
  const earlier = ORDER_STATUSES.slice(0, ORDER_STATUSES.indexOf(status) + 1);
  return sql`status in (select value from json_each(${JSON.stringify(earlier)}))`;
}

/** SQL of the order as JSON text, null if there is none. */
export function selectOrderJson(orderId: string): SQL {
  return sql`(select ${ORDER_JSON} from orders where id = ${orderId})`;
}

/** The order at this point of the batch, as `OrderText`; no row if there is none. */
export function selectOrder(orderId: string): SQL {
  return sql`select ${ORDER_JSON} as json, version, status from orders where id = ${orderId}`;
}

/** Whether the order exists at this point of the batch, with the expected version, and meets the condition of its row. */
export function orderExists(
  orderId: string,
  expectedVersion: number | undefined,
  condition = sql`true`,
): SQL {
  return sql`
    exists (select 1 from orders where id = ${orderId} and ${hasVersion(expectedVersion)} and ${condition})`;
}

export function deleteOrderRow(orderId: string, condition: SQL): Statement {
  return sql`delete from orders where id = ${orderId} and ${condition}`;
}

export type OrderFilter = {
  readonly status?: (typeof ORDER_STATUSES)[number] | undefined;
  readonly petId?: string | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
  readonly direction: "asc" | "desc";
};

export type OrderPage = { readonly orders: readonly string[]; readonly next: string | null };

/** By id, as JSON objects with exact digits. No index by status or pet, which every load and cancel would write. */
export async function listOrders(
  db: Database,
  { status, petId, after, limit, direction }: OrderFilter,
): Promise<OrderPage> {
  const isMatch = matches({ status, petId });
  const [by, follows] = direction === "asc" ? [sql`asc`, sql`>`] : [sql`desc`, sql`<`];
  const isAfter = after === undefined ? sql`true` : sql`orders.id ${follows} ${after}`;
  const rows = await db.all<{ id: string; json: string }>(sql`
    select cast(id as text) as id, ${ORDER_JSON} as json from orders
    where ${isMatch} and ${isAfter} order by orders.id ${by} limit ${limit + 1}`);
  const shown = rows.slice(0, limit);
  const next = rows.length > limit ? shown.at(-1)?.id : undefined;
  return { orders: shown.map(({ json }) => json), next: next ?? null };
}

export async function countOrders(
  db: Database,
  filter: Pick<OrderFilter, "status" | "petId">,
): Promise<number> {
  const [row] = await db.all<{ count: number }>(
    sql`select count(*) as count from orders where ${matches(filter)}`,
  );
  return row?.count ?? 0;
}

function matches({ status, petId }: Pick<OrderFilter, "status" | "petId">): SQL {
  return sql`(${status === undefined ? sql`true` : sql`status = ${status}`}
    and ${petId === undefined ? sql`true` : sql`pet_id = ${petId}`})`;
}

export async function findOrder(db: Database, orderId: string): Promise<OrderText | undefined> {
  return db.get<OrderText | undefined>(selectOrder(orderId));
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
      'cancelledBy', cancelled_by, 'cancelledByName', (select name from api_keys where id = cancelled_by),
      'requestId', request_id) as json
    from cancelled_orders where ${before === undefined ? sql`true` : sql`id < ${before}`}
    order by id desc limit ${limit}`);
}
