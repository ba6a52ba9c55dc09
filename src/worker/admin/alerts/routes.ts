/** `/admin/alerts`: what the webhook was told, and a test alert. */
import { Hono } from "hono";
import type { AppEnv } from "../../context.ts";
import { fromCursor, isTime, toCursor } from "../http/cursor.ts";
import { queryOf } from "../http/request-validation.ts";
import { alertQuery } from "./schema.ts";
import { findAlerts, sendTestAlert } from "./service.ts";

export const alertRoutes = new Hono<AppEnv>()
  .get("/", queryOf(alertQuery), async (c) => {
    const { after, ...filter } = c.req.valid("query");
    const page = await findAlerts(c.env, { ...filter, after: fromCursor("alerts", after, isTime) });
    return c.json({ ...page, next: toCursor("alerts", page.next) });
  })

  .post("/test", async (c) => c.json(await sendTestAlert(c.env, c.var.author.actor)));
