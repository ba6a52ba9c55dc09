/** `GET /store/orders` and `DELETE /store/orders/{orderId}`. */
import { type Context, Hono } from "hono";
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { ApiError, invalidRequest } from "../../platform/errors.ts";
import { urlOf } from "../../platform/request-url.ts";
import { nowSeconds } from "../../text/time.ts";
import { CHALLENGE } from "../authenticate.ts";
import { refuseOtherMethods } from "../errors.ts";
import { cancelOrder } from "./cancel.ts";
import { type Ahead, OrderList } from "./list.ts";
import { ListBodies } from "./list-bodies.ts";

/** Long enough for some 40 ETags. */
export const MAX_IF_NONE_MATCH_CHARS = 1_000;

/** So many keys fit into 100 kB. */
const MAX_REFUSED_KEYS = 1_000;

type ListEnv = AppEnv & { Variables: { ahead?: Promise<Ahead> } };

export function storeOrders() {
  const orders = new OrderList();
  return { readAhead: readAhead(orders), routes: storeOrderRoutes(orders) };
}

/**
 * Reads for the list while the limiter decides. For a key whose last request here was refused nothing is read
 * ahead, so that a client that goes on after a refusal costs no query.
 */
function readAhead(orders: OrderList) {
  const refused = new Set<string>();
  return createMiddleware<ListEnv>(async (c, next) => {
    const { id } = c.get("key");
    if (!refused.has(id)) c.set("ahead", orders.readAhead(c.env, ifNoneMatch(c), waitUntilOf(c)));
    try {
      await next();
    } finally {
      refused.delete(id);
      if (c.get("rateLimit")?.kind !== "admitted") {
        refused.add(id);
        const [oldest = ""] = refused;
        if (refused.size > MAX_REFUSED_KEYS) refused.delete(oldest);
      }
    }
  });
}

function waitUntilOf(c: Context) {
  return (promise: Promise<unknown>) => c.executionCtx.waitUntil(promise);
}

/** A longer header is ignored, because the request would keep the header in memory during the read. */
function ifNoneMatch(c: Context): string {
  const tags = c.req.header("If-None-Match") ?? "";
  return tags.length <= MAX_IF_NONE_MATCH_CHARS ? tags : "";
}

function storeOrderRoutes(orders: OrderList) {
  const bodies = new ListBodies(() => orders.keptChunks);
  return new Hono<ListEnv>()
    .get("/", async (c) => {
      const ahead = c.get("ahead");
      const { etag, chunks } = await orders.open(c.env, ifNoneMatch(c), waitUntilOf(c), ahead);
      if (!ifMatches(c.req.header("If-Match"), etag))
        throw new ApiError("precondition_failed", "The list has changed since the ETag in If-Match.");
      // `no-cache`: a client may store the list, but must revalidate the list before each use.
      const headers = { "Cache-Control": "private, no-cache", ...(etag && { ETag: etag }) };
      if (!chunks) return c.body(null, 304, headers);
      const readMore = orders.readMore.bind(orders, c.env);
      const isHead = c.req.method === "HEAD";
      const body = isHead ? null : bodies.open(chunks, c.get("key").id, c.get("requestId"), readMore);
      return new Response(body, { headers: { ...headers, "Content-Type": "application/json" } });
    })
    .all("/", refuseOtherMethods("GET, HEAD"))
    .delete("/:orderId", requireRightToCancel, refuseQuery, async (c) => {
      const by = { keyId: c.get("key").id, requestId: c.get("requestId"), atSeconds: nowSeconds() };
      const cancel = { ...by, isConditionTrue: isConditionTrue(c) };
      await cancelOrder(openDatabase(c.env.DB), c.req.param("orderId"), cancel);
      return c.body(null, 204, { "Cache-Control": "no-store" });
    })
    .all("/:orderId", refuseOtherMethods("DELETE"));
}

/** Nothing is looked up before, so a key that may only list learns nothing about the order (ADR-33). */
const requireRightToCancel = createMiddleware<AppEnv>((c, next) => {
  const verdict = c.get("rateLimit");
  if (verdict?.kind === "admitted" && verdict.facts.mayCancel === true) return next();
  throw new ApiError("not_allowed", "This API key may only list orders.", {
    headers: { "WWW-Authenticate": `${CHALLENGE}, error="insufficient_scope"` },
  });
});

/** A cancel cannot be undone, so none is made of a request that may mean something else, as `?dryRun=true`. */
const refuseQuery = createMiddleware<AppEnv>((c, next) => {
  if (urlOf(c.req.raw).search === "") return next();
  throw invalidRequest("This operation takes no query. Nothing was cancelled.");
});

/** The strong comparison (RFC 9110, 13.1.1). Comes before `If-None-Match`. */
function ifMatches(ifMatch = "*", etag?: string): boolean {
  return ifMatch.trim() === "*" || ifMatch.split(",").some((tag) => tag.trim() === etag);
}

/** A single order has no ETag, so only `*` matches an order that exists (RFC 9110, 13.1.1 and 13.1.2). */
function isConditionTrue(c: Context<AppEnv>): boolean {
  return ifMatches(c.req.header("If-Match")) && c.req.header("If-None-Match") !== "*";
}
