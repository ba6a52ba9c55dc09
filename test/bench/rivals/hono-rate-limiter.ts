/** hono-rate-limiter on Cloudflare's binding, as https://honohub.dev/docs/rate-limiter/stores/cloudflare sets it up. */
import { rateLimiter } from "hono-rate-limiter";
import type { RivalLimit } from "./names.ts";
import { type Limiter, type RivalEnv, rateLimitBinding } from "./rival.ts";

export const honoRateLimiter = (limit: RivalLimit): Limiter =>
  rateLimiter<RivalEnv>({
    binding: (c) => rateLimitBinding(c.env, limit),
    keyGenerator: (c) => `hono-rate-limiter ${c.var.key}`,
  });
