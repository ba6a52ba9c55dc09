/** The entry point of the Worker. */
import { createApp } from "./app.ts";
import type { Bindings } from "./context.ts";
import { deleteExpiredRows } from "./retention.ts";
import { sumUsageOfYesterday } from "./sum-usage.ts";

export { KeyLimiter } from "./limiter/key-limiter.ts";

const app = createApp();

export default {
  fetch: app.fetch,
  // Not by the event's own time: under `npm start` anyone on the machine can send the event, with any time.
  scheduled: async (_event, env) => {
    const nowMs = Date.now();
    await sumUsageOfYesterday(env, nowMs);
    await deleteExpiredRows(env, nowMs);
  },
} satisfies ExportedHandler<Bindings>;
