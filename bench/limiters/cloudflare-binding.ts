/**
 * Cloudflare's rate-limiting binding. Miniflare emulates it with one counter in an object. Cloudflare counts
 * in each location, without a wait:
 * https://developers.cloudflare.com/workers/runtime-apis/bindings/rate-limit
 */
import { limitedApp } from "./app.ts";

export default limitedApp(() => async (c, next) => {
  const { success } = await c.env.RATE_LIMIT.limit({ key: c.var.key });
  return success ? await next() : c.json({ error: "rate limit exceeded" }, 429);
});
