/** What the package exports. */
export { callLimiter, type LimiterNamespace, LimiterTimeoutError } from "./client.ts";
export { clientAddress } from "./client-address.ts";
export type { Ban, BanRule } from "./core/bans.ts";
export type {
  Admitted,
  Banned,
  Block,
  Credential,
  Facts,
  Limited,
  Policy,
  Unknown,
  Verdict,
} from "./core/decide.ts";
export { type HeaderOptions, headersOf } from "./core/headers.ts";
export type { HourUsage, RefusedMinute, Report } from "./core/usage.ts";
export { type Limit, perDay, perHour, perMinute, type Quota, type WindowView } from "./core/windows.ts";
export { type RateLimitOptions, type RefusedVerdict, rateLimit } from "./hono.ts";
export { type Call, type Inspection, RateLimiter, type RateLimiterOptions } from "./object.ts";
