/** What the package exports in Node, so that tools can import an app with a limiter. */
export * from "./client.ts";
export * from "./hono.ts";

export class RateLimiter {
  constructor() {
    throw new Error("RateLimiter is a Durable Object: it runs on Cloudflare Workers, and not in Node.");
  }
}
