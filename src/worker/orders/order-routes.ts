/** `GET /store/orders` and `DELETE /store/orders/{orderId}`. */
import { Hono } from "hono";
import type { AppEnv } from "../context.ts";
import { openDatabase } from "../db/database.ts";
import { cancelOrder } from "../db/order-repository.ts";
import { ApiError, notFound } from "../errors.ts";
import { toUnixSeconds } from "../time.ts";
import { isInt64 } from "./int64.ts";
import type { OrderList } from "./order-list.ts";

export function storeOrderRoutes(orders: OrderList) {
  return new Hono<AppEnv>()
    .get("/", async (c) => {
      const list = await orders.open({
        db: openDatabase(c.env.DB),
        ifNoneMatch: c.req.header("If-None-Match"),
        requestId: c.var.requestId,
        waitUntil: (promise) => c.executionCtx.waitUntil(promise),
      });
      // `no-cache` lets a client store the list, but it must revalidate it before each use.
      const headers = { ETag: list.etag, "Cache-Control": "private, no-cache" };
      if (list.kind === "unchanged") return c.body(null, 304, headers);
      return new Response(list.body, { headers: { ...headers, "Content-Type": "application/json" } });
    })
    .delete("/:orderId", async (c) => {
      const orderId = c.req.param("orderId");
      if (!isInt64(orderId)) throw notFound();
      const outcome = await cancelOrder(openDatabase(c.env.DB), orderId, {
        keyId: c.var.key.id,
        requestId: c.var.requestId,
        at: toUnixSeconds(Date.now()),
      });
      switch (outcome) {
        case "cancelled":
          return c.body(null, 204, { "Cache-Control": "no-store" });
        case "not_found":
          throw notFound();
        case "already_shipped":
          throw new ApiError(
            "order_already_shipped",
            "The order has already shipped and cannot be cancelled.",
          );
        case "not_cancellable":
          throw new ApiError("order_not_cancellable", "Only a pending order can be cancelled.");
      }
    });
}
