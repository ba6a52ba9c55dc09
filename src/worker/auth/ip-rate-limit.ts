/**
 * The per-IP rate limit (ADR-24), on Cloudflare's rate-limiting binding: no storage, no network wait, counted per
 * location. It bounds the 401s of the admin API, not the guesses, and lookups of unknown keys while too many wait. It is
 * independent of the limits of keys.
 */
import { ApiError } from "../errors.ts";
import { logError, logEvent } from "../log.ts";
import { withTimeout } from "../with-timeout.ts";
import { clientNetwork, IP_RATE_LIMIT_PERIOD_SECONDS } from "./ip-rate-limit-rules.ts";

/** The binding has nothing to wait for, so this is far above what it takes. */
const BINDING_TIMEOUT_MS = 1_000;

/** Counts one request from the client's address. Returns the 429 above the limit, undefined within it. */
export async function enforceIpRateLimit(
  binding: RateLimit,
  limit: number,
  headers: Headers,
): Promise<ApiError | undefined> {
  const network = networkOf(headers);
  if (await isWithinLimit(binding, network)) return undefined;
  logEvent("ip_rate_limit_exceeded", { network, limit });
  const resetSeconds = Math.ceil(Date.now() / 1000) + IP_RATE_LIMIT_PERIOD_SECONDS;
  return new ApiError(
    "rate_limit_exceeded",
    "Too many requests with unknown credentials from this address.",
    {
      headers: {
        "X-RateLimit-Limit": String(limit),
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": String(resetSeconds),
        "Retry-After": String(IP_RATE_LIMIT_PERIOD_SECONDS),
      },
    },
  );
}

export function networkOf(headers: Headers): string {
  return clientNetwork(headers.get("CF-Connecting-IP") ?? "unknown", headers.get("CF-Worker"));
}

/** A binding that fails or hangs admits the request. Otherwise its outage would refuse clients whose keys are valid. */
async function isWithinLimit(binding: RateLimit, key: string): Promise<boolean> {
  try {
    return (await withTimeout(binding.limit({ key }), BINDING_TIMEOUT_MS)).success;
  } catch (thrown) {
    logError("ip_rate_limit_unavailable", thrown);
    return true;
  }
}
