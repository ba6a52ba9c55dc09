/** The admin API, mounted at `/admin`. Without a configured admin token every path of it is a 404. */
import { Hono } from "hono";
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../context.ts";
import { invalidRequest } from "../errors.ts";
import { alertRoutes } from "./alerts/routes.ts";
import { auditRoutes } from "./audit/routes.ts";
import { banListRoutes, keyBanRoutes } from "./bans/routes.ts";
import { customerRoutes } from "./customers/routes.ts";
import { keyRoutes } from "./keys/routes.ts";
import { adminDocument } from "./openapi.ts";
import { orderAdminRoutes } from "./orders/routes.ts";
import { planRoutes } from "./plans/routes.ts";
import { refuseChangesOfOtherSites } from "./sign-in/own-origin.ts";
import { requireAdmin } from "./sign-in/require-admin.ts";
import { keyUsageRoutes, usageRoutes } from "./usage/routes.ts";

/** Responses hold secrets and internal data: no cache may store them, and no page of another site may embed them. */
const keepPrivate = createMiddleware<AppEnv>(async (c, next) => {
  await next();
  c.res.headers.set("Cache-Control", "no-store");
  c.res.headers.set("Cross-Origin-Resource-Policy", "same-origin");
});

const READS_QUERY = /^((GET|HEAD) |PUT \/admin\/orders$)/;

/** The other calls would make the change without what the query asks for, such as a dry run. A GET or HEAD refuses what it does not know, or changes nothing. */
const refuseQuery = createMiddleware<AppEnv>(async (c, next) => {
  // Not parsed: with a `Host` that is not valid, the URL is not valid either.
  const hasQuery = /\?./.test(c.req.url);
  if (hasQuery && !READS_QUERY.test(`${c.req.method} ${c.req.path}`)) {
    throw invalidRequest("This call has no query parameters, and no dry run.");
  }
  await next();
});

export const adminRoutes = new Hono<AppEnv>()
  .use(keepPrivate, refuseChangesOfOtherSites, requireAdmin, refuseQuery)
  .route("/keys", keyRoutes)
  .route("/keys", keyBanRoutes)
  .route("/keys", keyUsageRoutes)
  .route("/usage", usageRoutes)
  .route("/customers", customerRoutes)
  .route("/bans", banListRoutes)
  .route("/plans", planRoutes)
  .route("/orders", orderAdminRoutes)
  .route("/audit", auditRoutes)
  .route("/alerts", alertRoutes)
  .get("/openapi.json", adminDocument);
