/** The rate limit of a key, and its headers on every response. */
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { type Banned, type Limited, type RefusedVerdict, rateLimit } from "hono-durable-limiter";
import type { AppEnv } from "../context.ts";
import { noteUnreachable } from "../key/unreported-keys.ts";
import { windowInWords } from "../key/windows.ts";
import { ApiError, unavailable } from "../platform/errors.ts";
import { rfc3339 } from "../text/time.ts";
import { invalidKey } from "./authenticate.ts";
import { renderClientError } from "./errors.ts";

const MINUTE_SECONDS = 60;

/** A response without a decision shows an empty quota until the end of the minute. */
export function attachRateLimitHeaders(headers: Headers): void {
  if (headers.has("X-RateLimit-Limit")) return;
  headers.set("X-RateLimit-Limit", "0");
  headers.set("X-RateLimit-Remaining", "0");
  const minute = Math.floor(Date.now() / 1000 / MINUTE_SECONDS);
  headers.set("X-RateLimit-Reset", String((minute + 1) * MINUTE_SECONDS));
}

/** Authenticates the key and counts the request, in one call of the key's object. */
const admit = rateLimit<AppEnv>({
  namespace: (c) => c.env.KEY_LIMITER,
  key: (c) => c.get("key").id,
  credential: (c) => c.get("key").hash,
  locationHint: (c) => c.get("key").location ?? undefined,
  onRefused: refuse,
  onUnreachable: (c, _next, cause) => {
    c.executionCtx.waitUntil(noteUnreachable(c.env, c.get("key")));
    throw unavailable("The rate limiter cannot be reached. The request may have counted.", cause);
  },
});

/** Notes the time for the log by the Worker's clock, because the limiter has another clock. */
export const enforceLimit = createMiddleware<AppEnv>((c, next) =>
  admit(c, () => {
    c.set("admittedAtMs", Date.now());
    return next();
  }),
);

function refuse(c: Context<AppEnv>, verdict: RefusedVerdict): Response {
  if (verdict.kind === "unknown") throw invalidKey({ reason: verdict.reason, keyId: c.get("key").id });
  if (verdict.kind === "too_costly") throw new Error("each request costs 1, and each limit is at least 1");
  return renderClientError(refusalOf(verdict));
}

function refusalOf(verdict: Banned | Limited): ApiError {
  if (verdict.kind === "banned") {
    const until = rfc3339(Math.ceil(verdict.ban.endsAtMs / 1000));
    return new ApiError("key_banned", `This API key is banned until ${until}.`);
  }
  const { window, strikes, nowMs } = verdict;
  const seconds = Math.max(1, Math.ceil((window.endsAtMs - nowMs) / 1000));
  const used = strikes && ` ${strikes.count} of the ${strikes.toBan} seconds that lead to a ban are used.`;
  return new ApiError(
    "rate_limit_exceeded",
    `The limit of ${window.limit} requests ${windowInWords(window.name)} is used up. Retry in ${seconds} s.${used ?? ""}`,
  );
}
