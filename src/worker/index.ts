/** The entry point of the Worker. */
import { createApp } from "./app.ts";
import type { Bindings } from "./context.ts";
import { deleteExpiredRows } from "./retention.ts";

export { KeyLimiter } from "./limiter/key-limiter.ts";

const app = createApp();

export default {
  fetch: app.fetch,
  scheduled: (controller, env) => deleteExpiredRows(env, controller.scheduledTime),
} satisfies ExportedHandler<Bindings>;
