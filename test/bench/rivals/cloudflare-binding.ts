/**
 * Cloudflare's rate-limiting binding. Here Miniflare emulates it with one counter in an object; Cloudflare counts in each
 * location, without a wait (https://developers.cloudflare.com/workers/runtime-apis/bindings/rate-limit).
 */
import type { RivalLimit } from "./names.ts";
import { type Limiter, rateLimitBinding } from "./rival.ts";

export const cloudflareBinding =
  (limit: RivalLimit): Limiter =>
  async (c, next) => {
    const { success } = await rateLimitBinding(c.env, limit).limit({ key: `binding ${c.var.key}` });
    return success ? await next() : c.json({ error: "rate limit exceeded" }, 429);
  };
