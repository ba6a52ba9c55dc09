/** The limiters that the service is compared with: their files here, without `.ts`, and their names. */
export const LIMITERS = {
  "memory-object": "object that counts in memory",
  "write-through-object": "object that writes each count",
  "cloudflare-binding": "Cloudflare's binding",
  "hono-rate-limiter-binding": "hono-rate-limiter on that binding",
  "hono-rate-limiter-memory": "hono-rate-limiter, in memory",
  "rate-limiter-flexible": "rate-limiter-flexible, in memory",
  "d1-counter": "D1 counter",
  package: "hono-durable-limiter",
} as const;
