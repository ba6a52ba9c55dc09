/** The operator's surface, mounted at `/admin`: outside /v1, and not there at all without a token configured. */
import { Hono } from "hono";
import { createMiddleware } from "hono/factory";
import { openDatabase } from "../db/database.ts";
import { listAudit } from "./audit-store.ts";
import { banListRoutes, keyBanRoutes } from "./ban-routes.ts";
import { keyRoutes } from "./key-routes.ts";
import { orderRoutes } from "./order-routes.ts";
import { planRoutes } from "./plan-routes.ts";
import { type AdminEnv, requireAdmin } from "./require-admin.ts";
import { auditQuery } from "./schemas.ts";
import { dayUseRoutes, keyUseRoutes } from "./use-routes.ts";
import { queryOf } from "./validation.ts";

/** Answers hold keys once and operators' matters always: nobody on the way may keep them. */
const neverStored = createMiddleware<AdminEnv>(async (c, next) => {
  await next();
  c.res.headers.set("Cache-Control", "no-store");
});

const auditRoutes = new Hono<AdminEnv>().get("/", queryOf(auditQuery), async (c) => {
  const filter = c.req.valid("query");
  const rows = await listAudit(openDatabase(c.env.DB), filter);
  return c.json({ audit: rows, next: rows.length === filter.limit ? (rows.at(-1)?.id ?? null) : null });
});

export const adminRoutes = new Hono<AdminEnv>()
  .use(neverStored, requireAdmin)
  .route("/keys", keyRoutes)
  .route("/keys", keyBanRoutes)
  .route("/keys", keyUseRoutes)
  .route("/usage", dayUseRoutes)
  .route("/bans", banListRoutes)
  .route("/plans", planRoutes)
  .route("/orders", orderRoutes)
  .route("/audit", auditRoutes);

/** What the command line's typed client is made from. */
export type AdminRoutes = typeof adminRoutes;
