/** `/admin/orders`: imports and lists orders, shows, changes and deletes one, lists imports and cancelled orders. */
import { Hono } from "hono";
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { listCancelledJson, listOrders } from "../../db/order-admin-repository.ts";
import { listImports } from "../../db/order-import-repository.ts";
import { toImportView } from "../../db/order-import-view.ts";
import { importOrders } from "../order-import-service.ts";
import { deleteOrder, requireOrder, updateOrder } from "../order-service.ts";
import { Upload } from "../upload.ts";
import { etag, ifMatch } from "./if-match.ts";
import { nextCursor } from "./next-cursor.ts";
import { cancelledQuery, importListQuery, importQuery, orderQuery, orderUpdate } from "./request-schemas.ts";
import { jsonBody, queryOf } from "./request-validation.ts";

/** Discards what was not read, also after an error. */
const receiveUpload = createMiddleware<AppEnv & { Variables: { upload: Upload } }>(async (c, next) => {
  const upload = new Upload(textOf(c.req.raw));
  c.set("upload", upload);
  await next();
  await upload.discard();
});

export const orderAdminRoutes = new Hono<AppEnv>()
  .get("/", queryOf(orderQuery), async (c) => {
    const { orders, next } = await listOrders(openDatabase(c.env.DB), c.req.valid("query"));
    return jsonText(`{"orders":[${orders.join(",")}],"next":${JSON.stringify(next)}}`);
  })

  .post("/", receiveUpload, queryOf(importQuery), async (c) => {
    const query = c.req.valid("query");
    const options = {
      import: query.import,
      file: query.file,
      from: query.from,
      maxRefused: query["max-refused"],
      restoresCancelled: query["restore-cancelled"],
      isDryRun: query["dry-run"],
    };
    return c.json(await importOrders(c.env, c.var.upload, options, c.var.author));
  })

  .get("/imports", queryOf(importListQuery), async (c) => {
    const { before, limit } = c.req.valid("query");
    const rows = await listImports(openDatabase(c.env.DB), before, limit);
    const next = rows.length === limit ? (rows.at(-1)?.number ?? null) : null;
    return c.json({ imports: rows.map(toImportView), next });
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

function textOf(request: Request): ReadableStream<string> {
  // The runtime's types of the decoder's streams are narrower than the type of a request's body.
  const decoder = new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>;
  return (request.body ?? new Blob().stream()).pipeThrough(decoder);
}

/** A response of JSON text that SQLite wrote, with all digits of its integers. */
function jsonText(text: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(text, { headers: { "Content-Type": "application/json", ...headers } });
}
