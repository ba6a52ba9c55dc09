/** The entry point of the Worker. */

import { RateLimiter } from "hono-durable-limiter";
import { createApp, loadOperators } from "./app.ts";
import type { Bindings } from "./context.ts";
import { KeyLimiterBase } from "./key/key-limiter.ts";

export class KeyLimiter extends KeyLimiterBase {
  protected override alertsStored(): void {
    this.ctx.waitUntil(loadOperators().then(({ deliverSoon }) => deliverSoon(this.env)));
  }
}

/** Limits the requests with the links of one customer. */
export class OwnerLimiter extends RateLimiter {}

const app = createApp();

export default {
  fetch: app.fetch,
  // The event's own time is not used: under `npm start` any program can send the event, with any time.
  scheduled: async ({ cron }, env) => (await loadOperators()).runCron(cron, env),
} satisfies ExportedHandler<Bindings>;
