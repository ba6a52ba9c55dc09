/** Cancels a pending order. Throws the error response if it does not exist or is not pending. */
import type { Database } from "../db/database.ts";
import { cancelOrder } from "../db/order-repository.ts";
import { ApiError, notFound } from "../errors.ts";
import { withTimeout } from "../with-timeout.ts";
import { isInt64 } from "./int64.ts";

/** After it the answer is a 503, and D1 may still cancel the order. */
export const MAX_CANCEL_MS = 10_000;

export async function cancelPendingOrder(
  db: Database,
  orderId: string,
  by: { readonly keyId: string; readonly requestId: string; readonly at: number },
): Promise<void> {
  if (!isInt64(orderId)) throw notFound();
  switch (await withTimeout(cancelOrder(db, orderId, by), MAX_CANCEL_MS)) {
    case "cancelled":
      return;
    case "not_found":
      throw notFound();
    case "already_shipped":
      throw new ApiError("order_already_shipped", "The order has already shipped and cannot be cancelled.");
    case "not_cancellable":
      throw new ApiError("order_not_cancellable", "Only a pending order can be cancelled.");
  }
}
