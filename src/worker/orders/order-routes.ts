/** `GET /store/orders` and `DELETE /store/orders/{orderId}`. */
import { type Context, Hono, type HonoRequest } from "hono";
import { createMiddleware } from "hono/factory";
import { MAX_IF_NONE_MATCH_CHARS } from "../../openapi/operations.ts";
import type { AppEnv } from "../context.ts";
import { type Bookmark, openPrimarySession } from "../db/session.ts";
import { reachLimiter } from "../limit.ts";
import { nowSeconds } from "../time.ts";
import { WaitingRequests, type WaitRules } from "../waiting-requests.ts";
import { withTimeout } from "../with-timeout.ts";
import { cancelPendingOrder, MAX_CANCEL_MS } from "./order-cancellation.ts";
import type { OrderList } from "./order-list.ts";

/**
 * While this many wait in one isolate, or this many of one key, further ones are answered 503. A waiting one has up to 26 kB with the
 * longest URL, 6 of them garbage. Cancels have places of their own: a list may wait for other readers, too.
 */
export const MAX_WAITING_LISTS = { maxInAll: 1_000, maxPerKey: 750 };
export const MAX_WAITING_CANCELS = { maxInAll: 500, maxPerKey: 400 };

/** For the beginning of a list. Each of its queries has a timeout, but it may take many while the list changes. */
export const MAX_LIST_WAIT_MS = 60_000;

export function storeOrderRoutes(orders: Pick<OrderList, "open">) {
  const boundLists = boundWaiting({ ...MAX_WAITING_LISTS, maxWaitMs: MAX_LIST_WAIT_MS });
  const boundCancels = boundWaiting({ ...MAX_WAITING_CANCELS, maxWaitMs: MAX_CANCEL_MS });
  return new Hono<AppEnv>()
    .get("/", boundLists, async (c) => {
      const opened = orders.open({
        env: c.env,
        bookmark: bookmarkOf(c),
        ifNoneMatch: ifNoneMatchOf(c.req),
        keyId: c.get("key").id,
        requestId: c.get("requestId"),
        waitUntil: (promise) => c.executionCtx.waitUntil(promise),
      });
      const list = await withTimeout(opened, MAX_LIST_WAIT_MS);
      // `no-cache`: a client may store the list, but must revalidate the list before each use.
      const headers = { ETag: list.etag, "Cache-Control": "private, no-cache" };
      if (list.kind === "unchanged") return c.body(null, 304, headers);
      const isHead = c.req.method === "HEAD";
      // Its reader would keep what it has read.
      if (isHead && list.body instanceof ReadableStream) await list.body.cancel();
      return new Response(isHead ? null : list.body, {
        headers: { ...headers, "Content-Type": "application/json" },
      });
    })
    .delete("/:orderId", boundCancels, async (c) => {
      const by = { keyId: c.get("key").id, requestId: c.get("requestId"), at: nowSeconds() };
      const session = openPrimarySession(c.env);
      try {
        await cancelPendingOrder(session.db, c.req.param("orderId"), by);
      } finally {
        await remember(c, session.bookmark());
      }
      return c.body(null, 204, { "Cache-Control": "no-store" });
    });
}

/** Of the key's last cancel (ADR-19). */
function bookmarkOf(c: Context<AppEnv>): Bookmark | undefined {
  const verdict = c.get("rateLimit");
  const bookmark = verdict?.kind === "admitted" ? verdict.facts.bookmark : undefined;
  return typeof bookmark === "string" ? bookmark : undefined;
}

/** Before the response leaves, so that the key's next list shows the cancel, wherever it arrives. */
async function remember(c: Context<AppEnv>, bookmark: Bookmark | undefined): Promise<void> {
  if (bookmark === undefined) return;
  await reachLimiter(c.env, c.get("key"), async (limiter) => limiter.remember(bookmark));
}

function boundWaiting(rules: WaitRules) {
  const waiting = new WaitingRequests(rules);
  return createMiddleware<AppEnv>((c, next) => waiting.run(c.get("key").id, next));
}

/** A longer one is ignored: the request would keep it in memory while D1 is read. */
function ifNoneMatchOf(req: HonoRequest): string | undefined {
  const tags = req.header("If-None-Match");
  return tags !== undefined && tags.length <= MAX_IF_NONE_MATCH_CHARS ? tags : undefined;
}
