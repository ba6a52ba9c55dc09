/** `GET /store/orders` and `DELETE /store/orders/{orderId}`. */
import { type Context, Hono } from "hono";
import type { AppEnv } from "../../context.ts";
import { openPrimarySession } from "../../db/session.ts";
import { reachLimiter } from "../../key/reach-limiter.ts";
import { refuseOtherMethods } from "../../platform/errors.ts";
import { nowSeconds } from "../../text/time.ts";
import { cancelOrder } from "./cancel.ts";
import { OrderList } from "./list.ts";
import { ListBodies } from "./list-bodies.ts";

/** Long enough for some 40 ETags. */
export const MAX_IF_NONE_MATCH_CHARS = 1_000;

export function storeOrderRoutes() {
  const orders = new OrderList();
  const bodies = new ListBodies(() => orders.keptChunks);
  return new Hono<AppEnv>()
    .get("/", async (c) => {
      const tags = c.req.header("If-None-Match") ?? "";
      // A longer header is ignored, because the request would keep the header in memory during the read.
      const ifNoneMatch = tags.length <= MAX_IF_NONE_MATCH_CHARS ? tags : "";
      const waitUntil = (promise: Promise<unknown>) => c.executionCtx.waitUntil(promise);
      const { etag, chunks } = await orders.open(c.env, bookmarkOf(c), ifNoneMatch, waitUntil);
      // `no-cache`: a client may store the list, but must revalidate the list before each use.
      const headers = { "Cache-Control": "private, no-cache", ...(etag && { ETag: etag }) };
      if (!chunks) return c.body(null, 304, headers);
      const readMore = orders.readMore.bind(orders, c.env);
      const isHead = c.req.method === "HEAD";
      const body = isHead ? null : bodies.open(chunks, c.get("key").id, c.get("requestId"), readMore);
      return new Response(body, { headers: { ...headers, "Content-Type": "application/json" } });
    })
    .all("/", refuseOtherMethods("GET, HEAD"))
    .delete("/:orderId", async (c) => {
      const by = { keyId: c.get("key").id, requestId: c.get("requestId"), atSeconds: nowSeconds() };
      const cancel = { ...by, isConditionTrue: isConditionTrue(c) };
      const session = openPrimarySession(c.env);
      try {
        await cancelOrder(session.db, c.req.param("orderId"), cancel);
      } finally {
        // The limiter stores the bookmark before the response, so that the key's next list shows the cancel,
        // wherever the request arrives (ADR-19).
        const bookmark = session.bookmark();
        orders.see(bookmark); // this isolate shows the cancel even if the limiter cannot be reached
        if (bookmark !== undefined)
          await reachLimiter(c.env, c.get("key"), async (limiter) => limiter.remember(bookmark));
      }
      return c.body(null, 204, { "Cache-Control": "no-store" });
    })
    .all("/:orderId", refuseOtherMethods("DELETE"));
}

/** A single order has no ETag, so only `*` matches an order that exists (RFC 9110, 13.1.1 and 13.1.2). */
function isConditionTrue(c: Context<AppEnv>): boolean {
  return (c.req.header("If-Match") ?? "*") === "*" && c.req.header("If-None-Match") !== "*";
}

/** The bookmark of the key's last cancel. */
function bookmarkOf(c: Context<AppEnv>): string | undefined {
  const verdict = c.get("rateLimit");
  const bookmark = verdict?.kind === "admitted" ? verdict.facts.bookmark : undefined;
  return typeof bookmark === "string" ? bookmark : undefined;
}
