/** The package of src/limiter, without the service around it. */
import { perMinute, type RateLimiter, rateLimit } from "../../src/limiter/index.ts";
import { type LimiterEnv, limitedApp } from "./app.ts";

export { RateLimiter as Limiter } from "../../src/limiter/index.ts";

export default limitedApp<RateLimiter>((limit) =>
  rateLimit<LimiterEnv<RateLimiter>>({
    namespace: (c) => c.env.LIMITER,
    key: (c) => c.var.key,
    limits: [perMinute(limit)],
  }),
);
