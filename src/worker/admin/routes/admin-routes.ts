/** The operator's surface, mounted at `/admin`: outside /v1, and not there at all without a token configured. */
import { Hono } from "hono";
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../../context.ts";
import { listAudit } from "../../db/audit-repository.ts";
import { openDatabase } from "../../db/database.ts";
import { requireAdmin } from "../require-admin.ts";
import { banListRoutes, keyBanRoutes } from "./ban-routes.ts";
import { keyRoutes } from "./key-routes.ts";
import { orderAdminRoutes } from "./order-admin-routes.ts";
import { planRoutes } from "./plan-routes.ts";
import { auditQuery } from "./request-schemas.ts";
import { queryOf } from "./request-validation.ts";
import { dayUsageRoutes, keyUsageRoutes } from "./usage-routes.ts";

/** Answers hold keys once and operators' matters always: nobody on the way may keep them. */
const noStore = createMiddleware<AppEnv>(async (c, next) => {
  await next();
  c.res.headers.set("Cache-Control", "no-store");
});

const auditRoutes = new Hono<AppEnv>().get("/", queryOf(auditQuery), async (c) => {
  const filter = c.req.valid("query");
  const rows = await listAudit(openDatabase(c.env.DB), filter);
  return c.json({ audit: rows, next: rows.length === filter.limit ? (rows.at(-1)?.id ?? null) : null });
});

export const adminRoutes = new Hono<AppEnv>()
  .use(noStore, requireAdmin)
  .route("/keys", keyRoutes)
  .route("/keys", keyBanRoutes)
  .route("/keys", keyUsageRoutes)
  .route("/usage", dayUsageRoutes)
  .route("/bans", banListRoutes)
  .route("/plans", planRoutes)
  .route("/orders", orderAdminRoutes)
  .route("/audit", auditRoutes);

/** What the command line's typed client is made from. */
export type AdminRoutes = typeof adminRoutes;
