/** D1: reads the list of orders as JSON text, and cancels one. Ids are decimal text throughout (ADR-5). */
import { sql } from "drizzle-orm";
import { type Database, transact } from "./database.ts";

/** At most 146 bytes per order: 1.5 MB per page, below the 2 MB that D1 allows for one string. */
export const ORDERS_PER_PAGE = 10_000;

export type OrderPage = {
  /** The revision of the table that this page was read at. */
  readonly revision: string;
  /** The page's orders as JSON objects joined by commas; empty when there are none. */
  readonly json: string;
  /** The next page starts after this id. Null on the last page. */
  readonly lastId: string | null;
};

type RevisionRow = { revision: number; token: string };
type PageRow = { json: string | null; last_id: string | null; count: number };

const SELECT_REVISION = sql`select revision, token from orders_revision where id = 1`;

/** A new value after every change of the orders, which never repeats. One row read. */
export async function readRevision(db: Database): Promise<string> {
  return revisionOf(await db.get<RevisionRow | undefined>(SELECT_REVISION));
}

/**
 * The page of orders with ids above `afterId`, by id. SQLite writes the JSON (ADR-6): its integers keep all their
 * digits, and no order becomes a JavaScript object. `json_object` would print null for an absent member, hence the
 * concatenation. Nothing needs escaping, since the columns are integers, and dates of one fixed spelling.
 */
export async function readPage(db: Database, afterId: string | null): Promise<OrderPage> {
  const from = afterId === null ? sql`true` : sql`id > ${afterId}`;
  const [[revision], [page]] = await transact<[RevisionRow, PageRow]>(db, [
    SELECT_REVISION,
    sql`
      select group_concat(json, ',') as json, cast(max(id) as text) as last_id, count(*) as count
      from (
        select id, '{"id":' || id
          || coalesce(',"petId":' || pet_id, '')
          || coalesce(',"quantity":' || quantity, '')
          || coalesce(',"shipDate":"' || ship_date || '"', '')
          || case complete when 1 then ',"complete":true' when 0 then ',"complete":false' else '' end
          || '}' as json
        from orders where ${from} order by id limit ${sql.raw(String(ORDERS_PER_PAGE))}
      )`,
  ]);
  return {
    revision: revisionOf(revision),
    json: page?.json ?? "",
    lastId: page?.count === ORDERS_PER_PAGE ? page.last_id : null,
  };
}

export type Cancellation = "cancelled" | "not_found" | "already_shipped" | "not_cancellable";

/** One transaction: moves the pending order to `cancelled_orders`, or changes nothing and returns the reason. */
export async function cancelOrder(
  db: Database,
  orderId: string,
  by: { keyId: string; requestId: string; at: number },
): Promise<Cancellation> {
  const [, [deleted], [remaining]] = await transact<[never, { done: number }, { status: string }]>(db, [
    sql`
      insert into cancelled_orders (order_id, pet_id, quantity, ship_date, complete, cancelled_at, cancelled_by, request_id)
      select id, pet_id, quantity, ship_date, complete, cast(${by.at} as integer), ${by.keyId}, ${by.requestId}
      from orders where id = ${orderId} and status = 'pending'`,
    sql`delete from orders where id = ${orderId} and status = 'pending' returning 1 as done`,
    sql`select status from orders where id = ${orderId}`,
  ]);
  if (deleted) return "cancelled";
  if (!remaining) return "not_found";
  return remaining.status === "shipped" ? "already_shipped" : "not_cancellable";
}

function revisionOf(row: RevisionRow | undefined): string {
  if (!row) throw new Error("orders_revision has no row");
  return `${row.revision}-${row.token}`;
}
