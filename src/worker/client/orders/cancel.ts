/** Cancels a pending order, in one transaction. */
import { sql } from "drizzle-orm";
import { type Database, transact } from "../../db/database.ts";
import { ApiError } from "../../platform/errors.ts";
import { withDeadline } from "../../platform/with-timeout.ts";
import { isInt64 } from "../../text/int64.ts";

/** After this time the answer is a 503, and D1 may still cancel the order. */
export const MAX_CANCEL_MS = 10_000;

const CONDITION_FALSE = "The condition of the request is false, so the order was not cancelled.";

type Cancel = {
  readonly keyId: string;
  readonly requestId: string;
  readonly atSeconds: number;
  /** Whether the conditions in `If-Match` and `If-None-Match` are true. */
  readonly isConditionTrue: boolean;
};

/** Moves the order to `cancelled_orders`. Throws a 404, a 409, or a 412 if the condition is false. */
export async function cancelOrder(db: Database, orderId: string, cancel: Cancel): Promise<void> {
  // The message does not repeat the text, because the text may be an API key.
  if (!isInt64(orderId)) throw new ApiError("order_not_found", "There is no such order: its id is an int64.");
  const [, [deleted], [remaining]] = await withDeadline(moveOrder(db, orderId, cancel), MAX_CANCEL_MS);
  if (deleted) return;
  if (!remaining) throw new ApiError("order_not_found", `There is no order ${orderId}.`);
  if (remaining.status === "shipped")
    throw new ApiError("order_already_shipped", "The order has already shipped and cannot be cancelled.");
  // The condition is checked last: another error goes before a false condition (RFC 9110, 13.2.1).
  if (remaining.status === "pending") throw new ApiError("precondition_failed", CONDITION_FALSE);
  throw new ApiError("order_not_cancellable", "Only a pending order can be cancelled.");
}

function moveOrder(db: Database, orderId: string, cancel: Cancel) {
  const { keyId, requestId, atSeconds, isConditionTrue } = cancel;
  const isMoved = sql`id = ${orderId} and status = 'pending' and ${isConditionTrue}`;
  return transact<[never, { done: number }, { status: string }]>(db, [
    sql`
      insert into cancelled_orders (order_id, pet_id, quantity, ship_date, complete, cancelled_at, cancelled_by, request_id)
      select id, pet_id, quantity, ship_date, complete, cast(${atSeconds} as integer), ${keyId}, ${requestId}
      from orders where ${isMoved}`,
    sql`delete from orders where ${isMoved} returning 1 as done`,
    sql`select status from orders where id = ${orderId}`,
  ]);
}
