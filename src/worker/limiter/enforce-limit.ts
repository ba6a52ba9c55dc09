/** Middleware: a key record becomes an admission, or 429. Every response gets its rate-limit headers. */
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import type { KeyLookup } from "../auth/key-lookup.ts";
import { type AppEnv, settingsOf } from "../context.ts";
import { ApiError, unavailable } from "../errors.ts";
import { logError } from "../log.ts";
import { rfc3339 } from "../time.ts";
import { headersWithoutQuota, rateLimitHeaders } from "./core/rate-limit-headers.ts";
import { type Answer, requestAdmission } from "./limiter-client.ts";

/** Marks a response to a request that was admitted uncounted because the limiter could not be reached. */
export const DEGRADED_HEADER = "X-RateLimit-Degraded";

/** One for the cached record, one for the fresh one, one more for a change in between. */
const MAX_TRIES = 3;

/** Outermost, so that every response has them. An error that brought its own headers keeps them. */
export const attachRateLimitHeaders = createMiddleware<AppEnv>(async (c, next) => {
  await next();
  const headers = c.var.rateLimitHeaders ?? headersWithoutQuota(Date.now());
  for (const [name, value] of Object.entries(headers)) {
    if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  }
});

/** One RPC. For the first request after a change of the key also a D1 query and a second RPC. */
export function enforceLimit(keys: KeyLookup) {
  return createMiddleware<AppEnv>(async (c, next) => {
    const answer = await admitWithFreshRecord(c, keys);
    if (answer.kind === "unreachable") {
      if (settingsOf(c.env).limiterFailureMode === "closed") {
        throw unavailable(
          "The rate limiter cannot be reached. The request was not carried out.",
          answer.cause,
        );
      }
      logError("limiter_failed_open", answer.cause, { requestId: c.var.requestId });
      c.set("rateLimitHeaders", {
        ...headersWithoutQuota(Date.now()),
        [DEGRADED_HEADER]: "limiter-unreachable",
      });
    } else {
      c.set("rateLimitHeaders", rateLimitHeaders(answer));
      if (answer.kind !== "admitted") throw refusal(answer);
    }
    await next();
  });
}

type FinalAnswer = Exclude<Answer, { kind: "stale" }>;

/** The limiter hears of a change before this isolate's cache does. A stale record is reloaded until it is fresh. */
async function admitWithFreshRecord(c: Context<AppEnv>, keys: KeyLookup): Promise<FinalAnswer> {
  for (let tries = 1; ; tries++) {
    const { id, version, limits, banOverride } = c.var.key;
    const answer = await requestAdmission(c.env, id, { version, limits, banOverride });
    if (answer.kind !== "stale") return answer;
    if (tries === MAX_TRIES) {
      return { kind: "unreachable", cause: new Error(`record of ${id} stays stale`) };
    }
    c.set("key", await keys.reload(c.var.keyHash, c.env));
  }
}

function refusal(verdict: Exclude<FinalAnswer, { kind: "unreachable" | "admitted" }>): ApiError {
  if (verdict.kind === "banned") {
    const until = rfc3339(verdict.ban.endsAtMs / 1000);
    return new ApiError(
      "key_banned",
      `This API key is banned until ${until}. Requests until then change nothing.`,
    );
  }
  const { limit, name } = verdict.exhausted;
  return new ApiError(
    "rate_limit_exceeded",
    `The limit of ${limit} requests per ${name} is used up. Retry after the time in Retry-After.`,
  );
}
