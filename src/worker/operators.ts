/**
 * What only operators, owners and crons reach: their app, and the work of the crons. It is a module of its own,
 * which an isolate loads when it needs it (ADR-38).
 */
import { Hono } from "hono";
import { alertOfExpiries } from "./admin/alerts/calls.ts";
import { deliverDueAlerts } from "./admin/alerts/deliver.ts";
import { makePlannedChanges } from "./admin/keys/change/update.ts";
import { MAX_KEYS_A_RUN, refreshLimiters } from "./admin/refresh-limiters.ts";
import { adminRoutes } from "./admin/routes.ts";
import { reportAgain } from "./admin/usage/ask-limiters.ts";
import { isPage, requireHttps, respond, withErrors } from "./answer.ts";
import { errorPage } from "./console/kit/page.tsx";
import { consoleRoutes } from "./console/routes.tsx";
import type { AppEnv, Bindings } from "./context.ts";
import { deleteExpiredRows } from "./db/retention.ts";
import { sumFinishedDay } from "./db/sum-finished-day.ts";
import { ownerRoutes } from "./owner/routes.tsx";
import { notFound, renderError } from "./platform/errors.ts";

export { deliverSoon } from "./admin/alerts/deliver.ts";

/** The operator's paths have their own app, because Hono's fastest router does not support such paths. */
export function operatorsApp(): Hono<AppEnv> {
  const operators = new Hono<AppEnv>();
  operators.use(respond, requireHttps);
  operators.route("/admin", adminRoutes);
  operators.route("/console", consoleRoutes);
  operators.route("/owner", ownerRoutes());
  return withErrors(operators, {
    noSuchPath: notFound(),
    render: (c, error) => (isPage(c.req.path) ? errorPage(c, error) : renderError(error)),
  });
}

/** The other cron of wrangler.toml runs hourly. */
const EVERY_MINUTE = "* * * * *";

export async function runCron(cron: string, env: Bindings): Promise<void> {
  if (cron !== EVERY_MINUTE) {
    await alertOfExpiries(env);
    await sumFinishedDay(env);
    await makePlannedChanges(env);
    return deleteExpiredRows(env, Date.now());
  }
  // At once, because a slow receiver of alerts must not keep the limiters waiting.
  await Promise.all([refreshLimiters(env, "all", MAX_KEYS_A_RUN), reportAgain(env), deliverDueAlerts(env)]);
}
