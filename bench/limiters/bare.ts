/** The route without a limiter, and a route that only queries D1. */
import { Hono } from "hono";

export default new Hono<{ Bindings: { DB: D1Database } }>()
  .get("/limited", (c) => c.json({ ok: true }))
  .get("/query", async (c) => c.json(await c.env.DB.prepare("select 1").first()));
