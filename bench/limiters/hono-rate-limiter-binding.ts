/** hono-rate-limiter on Cloudflare's binding (https://honohub.dev/docs/rate-limiter/stores/cloudflare). */
import { rateLimiter } from "hono-rate-limiter";
import { type LimiterEnv, limitedApp } from "./app.ts";

export default limitedApp(() =>
  rateLimiter<LimiterEnv>({ binding: (c) => c.env.RATE_LIMIT, keyGenerator: (c) => c.var.key }),
);
