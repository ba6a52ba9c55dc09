/** What the package exports in a Worker. */
export * from "./client.ts";
export * from "./hono.ts";
export { RateLimiter } from "./object.ts";
