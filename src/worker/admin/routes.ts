/** The admin API, mounted at `/admin`. Without a way to sign in, every path is a 404. */
import { Hono } from "hono";
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../context.ts";
import { CALLS } from "./calls.ts";
import { serve } from "./serve.ts";
import { refuseChangesOfOtherSites } from "./sign-in/own-origin.ts";
import { requireAdmin } from "./sign-in/require-admin.ts";

/** Answers hold secrets and internal data. No cache may store them, and no other site may embed them. */
const keepPrivate = createMiddleware<AppEnv>(async (c, next) => {
  await next();
  c.res.headers.set("Cache-Control", "no-store");
  c.res.headers.set("Cross-Origin-Resource-Policy", "same-origin");
});

export const adminRoutes = new Hono<AppEnv>()
  .use(keepPrivate, refuseChangesOfOtherSites, requireAdmin)
  .route("/", serve(CALLS));
