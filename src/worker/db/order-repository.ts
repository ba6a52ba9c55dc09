/** Orders in D1: cancelling one. Ids are decimal text throughout (ADR-5). */
import { sql } from "drizzle-orm";
import { type Database, transact } from "./database.ts";

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
