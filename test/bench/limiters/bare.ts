/** The route without a limiter, which the others are compared with. */
import { Hono } from "hono";

export default new Hono().get("/limited", (c) => c.json({ ok: true }));
