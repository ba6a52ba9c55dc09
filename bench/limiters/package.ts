/** The package of src/limiter, without the service around it. */
import { perMinute, type RateLimiter, rateLimit } from "hono-durable-limiter";
import { type LimiterEnv, limitedApp } from "./app.ts";

export { RateLimiter as Limiter } from "hono-durable-limiter";

export default limitedApp<RateLimiter>((limit) =>
  rateLimit<LimiterEnv<RateLimiter>>({
    namespace: (c) => c.env.LIMITER,
    key: (c) => c.var.key,
    limits: [perMinute(limit)],
  }),
);
