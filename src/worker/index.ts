/** The entry point of the Worker. */

import { RateLimiter } from "hono-durable-limiter";
import { deliverDueAlerts, deliverSoon } from "./admin/alerts/deliver.ts";
import { alertOfExpiries } from "./admin/alerts/service.ts";
import { MAX_KEYS_A_RUN, refreshLimiters } from "./admin/refresh-limiters.ts";
import { createApp } from "./app.ts";
import type { Bindings } from "./context.ts";
import { deleteExpiredRows } from "./db/retention.ts";
import { KeyLimiterBase } from "./key/key-limiter.ts";

export class KeyLimiter extends KeyLimiterBase {
  protected override alertsStored(): void {
    deliverSoon(this.env);
  }
}

/** Limits the requests with the links of one customer. */
export class OwnerLimiter extends RateLimiter {}

const app = createApp();

/** The other cron of wrangler.toml runs hourly. */
const EVERY_MINUTE = "* * * * *";

export default {
  fetch: app.fetch,
  // The event's own time is not used: under `npm start` any program can send the event, with any time.
  scheduled: async ({ cron }, env) => {
    if (cron !== EVERY_MINUTE) {
      await alertOfExpiries(env);
      return deleteExpiredRows(env, Date.now());
    }
    // Both run at once, because a slow receiver of alerts must not keep the limiters waiting.
    await Promise.all([refreshLimiters(env, "all", MAX_KEYS_A_RUN), deliverDueAlerts(env)]);
  },
} satisfies ExportedHandler<Bindings>;
