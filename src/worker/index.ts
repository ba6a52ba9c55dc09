/** The entry point of the Worker. */
import { createApp } from "./app.ts";
import type { Bindings } from "./context.ts";
import { deleteExpiredRows } from "./retention.ts";
import { sumUsageOfYesterday } from "./sum-usage.ts";

export { KeyLimiter } from "./limiter/key-limiter.ts";

const app = createApp();

export default {
  fetch: app.fetch,
  scheduled: async ({ scheduledTime }, env) => {
    await sumUsageOfYesterday(env, scheduledTime);
    await deleteExpiredRows(env, scheduledTime);
  },
} satisfies ExportedHandler<Bindings>;
