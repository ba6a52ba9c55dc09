/** `/admin/orders`: imports orders, shows and changes one, and lists cancelled ones. */
import { Hono } from "hono";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { listCancelledJson } from "../../db/order-import-repository.ts";
import { importOrders } from "../order-import-service.ts";
import { requireOrderJson, updateOrder } from "../order-service.ts";
import { nextCursor } from "./next-cursor.ts";
import { cancelledQuery, orderUpdate } from "./request-schemas.ts";
import { jsonBody, queryOf } from "./request-validation.ts";

export const orderAdminRoutes = new Hono<AppEnv>()
  .post("/", async (c) => c.json(await importOrders(c.env, textOf(c.req.raw), c.var.author)))

  .get("/cancelled", queryOf(cancelledQuery), async (c) => {
    const { before, limit } = c.req.valid("query");
    const rows = await listCancelledJson(openDatabase(c.env.DB), before, limit);
    const cancelled = rows.map((row) => row.json).join(",");
    return jsonText(`{"cancelled":[${cancelled}],"next":${nextCursor(rows, limit)}}`);
  })

  .get("/:orderId", async (c) =>
    jsonText(await requireOrderJson(openDatabase(c.env.DB), c.req.param("orderId"))),
  )

  .patch("/:orderId", jsonBody(orderUpdate), async (c) =>
    jsonText(await updateOrder(c.env, c.req.param("orderId"), c.req.valid("json"), c.var.author)),
  );

function textOf(request: Request): ReadableStream<string> {
  // The runtime's types of the decoder's streams are narrower than the type of a request's body.
  const decoder = new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>;
  return (request.body ?? new Blob().stream()).pipeThrough(decoder);
}

/** A response of JSON text that SQLite wrote, with all digits of its integers. */
function jsonText(text: string): Response {
  return new Response(text, { headers: { "Content-Type": "application/json" } });
}
