/** Bounds the 401s of the admin API for one address. The length of the token makes guesses hopeless. */
import type { Context } from "hono";
import { clientAddress } from "hono-durable-limiter";
import type { AppEnv } from "../../context.ts";
import { ApiError } from "../../platform/errors.ts";
import { logError, logEvent } from "../../platform/log.ts";
import { withDeadline } from "../../platform/with-timeout.ts";

/** The `simple.limit` and the period of the binding in wrangler.toml, which a Worker cannot read. */
export const MAX_FAILURES = 200;
const PERIOD_SECONDS = 60;

/** The binding waits for nothing, so it takes far less time. */
const BINDING_TIMEOUT_MS = 1_000;

/** Counts a failed sign-in. Returns the 429 above the limit, undefined within it. */
export async function countFailure(c: Context<AppEnv>): Promise<ApiError | undefined> {
  const network = clientAddress(c);
  if (await isWithinLimit(c.env.ADMIN_SIGN_IN_IP_RATE_LIMIT, network)) return undefined;
  logEvent("ip_rate_limit_exceeded", { network, limit: MAX_FAILURES });
  const resetSeconds = Math.ceil(Date.now() / 1000) + PERIOD_SECONDS;
  return new ApiError(
    "rate_limit_exceeded",
    "Too many requests with unknown credentials from this address.",
    {
      headers: {
        "X-RateLimit-Limit": String(MAX_FAILURES),
        "X-RateLimit-Remaining": "0",
        "X-RateLimit-Reset": String(resetSeconds),
        "Retry-After": String(PERIOD_SECONDS),
      },
    },
  );
}

/** A binding that fails or hangs admits the request. */
async function isWithinLimit(binding: RateLimit, key: string): Promise<boolean> {
  try {
    return (await withDeadline(binding.limit({ key }), BINDING_TIMEOUT_MS)).success;
  } catch (thrown) {
    logError("ip_rate_limit_unavailable", thrown);
    return true;
  }
}
