/** The entry point of the Worker. */
import { createApp } from "./app.ts";
import type { Bindings } from "./context.ts";
import { deleteExpiredRows } from "./retention.ts";

export { KeyLimiter } from "./key-limiter.ts";

const app = createApp();

export default {
  fetch: app.fetch,
  // Not by the event's own time: under `npm start` anyone on the machine can send the event, with any time.
  scheduled: async (_event, env) => {
    await deleteExpiredRows(env, Date.now());
  },
} satisfies ExportedHandler<Bindings>;
