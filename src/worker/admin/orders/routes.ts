/** `/admin/orders`: lists and loads orders, shows, changes and deletes one, lists cancelled orders. */
import { Hono } from "hono";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { invalidRequest, toErrorBody } from "../../errors.ts";
import { etag, ifMatch } from "../http/if-match.ts";
import { nextCursor } from "../http/next-cursor.ts";
import { jsonBody, queryOf, receiveText } from "../http/request-validation.ts";
import { loadOrders } from "./load.ts";
import { cancelledQuery, loadQuery, orderQuery, orderUpdate } from "./schema.ts";
import { deleteOrder, requireOrder, updateOrder } from "./service.ts";
import { listCancelledJson, listOrders } from "./sql.ts";

/** 5,000 orders take 1 MB, and two with white space. */
const MAX_LOAD_BYTES = 2 * 1024 * 1024;

export const orderAdminRoutes = new Hono<AppEnv>()
  .get("/", queryOf(orderQuery), async (c) => {
    const { orders, next } = await listOrders(openDatabase(c.env.DB), c.req.valid("query"));
    return jsonText(`{"orders":[${orders.join(",")}],"next":${JSON.stringify(next)}}`);
  })

  .put("/", queryOf(loadQuery), async (c) => {
    const { file, "dry-run": isDryRun, "restore-cancelled": restoresCancelled } = c.req.valid("query");
    const json = await receiveText(c, MAX_LOAD_BYTES);
    const result = await loadOrders(c.env, json, { file, isDryRun, restoresCancelled }, c.var.author);
    if (result.kind === "refused") {
      const error = invalidRequest("Nothing was stored: some orders are not valid.");
      return c.json({ ...toErrorBody(error), refused: result.lines }, 400);
    }
    const { kind: _, ...figures } = result;
    return c.json(figures);
  })

  .get("/cancelled", queryOf(cancelledQuery), async (c) => {
    const { before, limit } = c.req.valid("query");
    const rows = await listCancelledJson(openDatabase(c.env.DB), before, limit);
    const cancelled = rows.map((row) => row.json).join(",");
    return jsonText(`{"cancelled":[${cancelled}],"next":${nextCursor(rows, limit)}}`);
  })

  .get("/:orderId", async (c) => {
    const order = await requireOrder(openDatabase(c.env.DB), c.req.param("orderId"));
    return jsonText(order.json, etag(order));
  })

  .patch("/:orderId", jsonBody(orderUpdate), async (c) => {
    const { orderId } = c.req.param();
    const order = await updateOrder(c.env, orderId, c.req.valid("json"), c.var.author, ifMatch(c));
    return jsonText(order.json, etag(order));
  })

  .delete("/:orderId", async (c) => {
    const { json } = await deleteOrder(c.env, c.req.param("orderId"), c.var.author, ifMatch(c));
    return jsonText(json);
  });

/** A response of JSON text that SQLite wrote, with all digits of its integers. */
function jsonText(text: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(text, { headers: { "Content-Type": "application/json", ...headers } });
}
