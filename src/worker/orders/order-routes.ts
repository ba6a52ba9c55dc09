/** `GET /store/orders` and `DELETE /store/orders/{orderId}`. */
import { Hono, type HonoRequest } from "hono";
import { MAX_IF_NONE_MATCH_CHARS } from "../../openapi/operations.ts";
import type { AppEnv } from "../context.ts";
import { openPrimarySession } from "../db/session.ts";
import { keepBookmark } from "../limiter/enforce-limit.ts";
import { nowSeconds } from "../time.ts";
import { cancelPendingOrder } from "./order-cancellation.ts";
import type { OrderList } from "./order-list.ts";

export function storeOrderRoutes(orders: OrderList) {
  return new Hono<AppEnv>()
    .get("/", async (c) => {
      const list = await orders.open({
        env: c.env,
        bookmark: c.get("limiterBookmark")?.bookmark,
        ifNoneMatch: ifNoneMatchOf(c.req),
        keyId: c.get("key").id,
        requestId: c.get("requestId"),
        waitUntil: (promise) => c.executionCtx.waitUntil(promise),
      });
      await keepBookmark(c, orders.bookmark);
      // `no-cache` lets a client store the list, but it must revalidate it before each use.
      const headers = { ETag: list.etag, "Cache-Control": "private, no-cache" };
      if (list.kind === "unchanged") return c.body(null, 304, headers);
      const isHead = c.req.method === "HEAD";
      // Its reader would keep what it has read.
      if (isHead && list.body instanceof ReadableStream) await list.body.cancel();
      return new Response(isHead ? null : list.body, {
        headers: { ...headers, "Content-Type": "application/json" },
      });
    })
    .delete("/:orderId", async (c) => {
      const by = { keyId: c.get("key").id, requestId: c.get("requestId"), at: nowSeconds() };
      const session = openPrimarySession(c.env);
      try {
        await cancelPendingOrder(session.db, c.req.param("orderId"), by);
      } finally {
        await keepBookmark(c, session.bookmark());
      }
      return c.body(null, 204, { "Cache-Control": "no-store" });
    });
}

/** A longer one is ignored: the request would keep it in memory while D1 is read. */
function ifNoneMatchOf(req: HonoRequest): string | undefined {
  const tags = req.header("If-None-Match");
  return tags !== undefined && tags.length <= MAX_IF_NONE_MATCH_CHARS ? tags : undefined;
}
