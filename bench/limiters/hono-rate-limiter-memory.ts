/** hono-rate-limiter with its default store, in the isolate's memory. */
import { rateLimiter } from "hono-rate-limiter";
import { type LimiterEnv, limitedApp } from "./app.ts";

export default limitedApp((limit) =>
  rateLimiter<LimiterEnv>({ limit, windowMs: 60_000, keyGenerator: (c) => c.var.key }),
);
