/**
 * rate-limiter-flexible's RateLimiterMemory, with the headers of its README. Each isolate counts for itself.
 *
 * Its stores that would count across isolates do not run in workerd (11.4.0). Two import "drizzle-orm" by a
 * name that bundlers cannot see. The store for SQLite accepts only drivers of Node. The others need a server.
 */
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { limitedApp } from "./app.ts";

export default limitedApp((limit) => {
  const limiter = new RateLimiterMemory({ points: limit, duration: 60 });
  return async (c, next) => {
    const { result, isAdmitted } = await consume(limiter, c.var.key);
    c.header("X-RateLimit-Limit", `${limit}`);
    c.header("X-RateLimit-Remaining", `${result.remainingPoints}`);
    c.header("X-RateLimit-Reset", `${Math.ceil((Date.now() + result.msBeforeNext) / 1000)}`);
    if (isAdmitted) return await next();
    c.header("Retry-After", `${Math.ceil(result.msBeforeNext / 1000)}`);
    return c.json({ error: "rate limit exceeded" }, 429);
  };
});

/** The library rejects with the result when the limit is exceeded. */
async function consume(
  limiter: RateLimiterMemory,
  key: string,
): Promise<{ result: RateLimiterRes; isAdmitted: boolean }> {
  try {
    return { result: await limiter.consume(key), isAdmitted: true };
  } catch (thrown) {
    if (thrown instanceof RateLimiterRes) return { result: thrown, isAdmitted: false };
    throw thrown;
  }
}
