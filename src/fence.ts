/**
 * A coarse fence per client address (D12), on Cloudflare's native rate-limiting binding: it costs no storage and no network
 * wait, and counts per location. It keeps floods of guesses away from D1; it is never anybody's limit.
 */
import { ApiError } from "./errors.ts";
import { logError } from "./log.ts";

/** As `simple.limit` of the bindings in wrangler.toml, which the Worker cannot read from the binding; a test compares them. */
export const UNKNOWN_KEYS_PER_MINUTE = 300;
export const ADMIN_FAILURES_PER_MINUTE = 200;

/** The bindings' period. A client silent for all of it is let through again, however the binding aligns its windows. */
export const FENCE_PERIOD_SECONDS = 60;

/** Counts one try from the request's address; throws a 429 past the limit. */
export async function passFence(
  fence: RateLimit,
  limit: number,
  headers: Headers,
  nowMs: number,
): Promise<void> {
  if (await hasRoom(fence, clientNetwork(headers.get("CF-Connecting-IP") ?? "unknown"))) return;
  throw new ApiError("rate_limit_exceeded", "Too many tries with unknown credentials from this address.", {
    headers: {
      "X-RateLimit-Limit": String(limit),
      "X-RateLimit-Remaining": "0",
      "X-RateLimit-Reset": String(Math.ceil(nowMs / 1000) + FENCE_PERIOD_SECONDS),
      "Retry-After": String(FENCE_PERIOD_SECONDS),
    },
  });
}

/** A fence that is down lets everybody through: it would otherwise shut out clients whose keys are good. */
async function hasRoom(fence: RateLimit, key: string): Promise<boolean> {
  try {
    return (await fence.limit({ key })).success;
  } catch (thrown) {
    logError("fence_not_reached", thrown);
    return true;
  }
}

/** An IPv4 address, or the /64 of an IPv6 address, since that is what one subscriber gets. */
export function clientNetwork(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const before = head === "" ? [] : head.split(":");
  if (tail === undefined) return before.slice(0, 4).join(":");
  const after = tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  return [...before, ...zeros, ...after].slice(0, 4).join(":");
}
