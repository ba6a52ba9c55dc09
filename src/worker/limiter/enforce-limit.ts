/** Middleware: asks the key's limiter to admit the request, answers 429 if it refuses, and sets the rate-limit headers. */
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import type { KeyLookup } from "../auth/key-lookup.ts";
import { type AppEnv, settingsOf } from "../context.ts";
import { ApiError, unavailable } from "../errors.ts";
import { logError } from "../log.ts";
import { rfc3339 } from "../time.ts";
import { liveBan, NO_PENALTY } from "./core/ban.ts";
import { type Bookmark, laterBookmark } from "./core/bookmark.ts";
import { NOTHING_COUNTED, roll, viewOf, type WindowView } from "./core/quota.ts";
import { type Decided, headersWithoutQuota, rateLimitHeaders } from "./core/rate-limit-headers.ts";
import { type Answer, isOverload, raiseBookmark, requestAdmission } from "./limiter-client.ts";

/** Marks a response to a request that was admitted uncounted because the limiter could not be reached. */
export const DEGRADED_HEADER = "X-RateLimit-Degraded";

/** One for the cached record, one for the fresh one, two more for changes in between. */
const MAX_TRIES = 4;

/** Runs around all other middleware, so that every response has the headers. Headers that an error has set are kept. */
export const attachRateLimitHeaders = createMiddleware<AppEnv>(async (c, next) => {
  await next();
  const headers = c.get("rateLimitHeaders") ?? headersWithoutQuota(Date.now());
  for (const [name, value] of Object.entries(headers)) {
    if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  }
});

/** What the isolate has read of D1, which the key's later requests must not fall behind. */
export type ReadState = { readonly bookmark: Bookmark | undefined };

/** One RPC. For the first request after a change of the key also a D1 query and a second RPC. */
export function enforceLimit(keys: KeyLookup, isolate: ReadState) {
  return createMiddleware<AppEnv>(async (c, next) => {
    const answer = await admitWithFreshRecord(c, keys, isolate);
    const verdict = answer.kind === "unreachable" ? await failOpenOrThrow(c, keys, answer.cause) : answer;
    c.set("decision", {
      verdict: verdict?.kind ?? "uncounted",
      atMs: Date.now(),
      ...(answer.kind === "unreachable" ? {} : { dayPercent: percentUsed(answer.quota.day) }),
    });
    if (verdict) {
      c.set("rateLimitHeaders", rateLimitHeaders(verdict));
      if (verdict.kind !== "admitted") throw refusal(verdict);
      c.set("limiterBookmark", { bookmark: verdict.bookmark });
    }
    await next();
  });
}

/** Rounded down, so that 100 means used up. */
function percentUsed({ used, limit }: WindowView): number {
  return Math.floor((100 * used) / limit);
}

/**
 * The limiter knows of a change before this isolate's cache does. A stale record is reloaded until it is fresh. A fresh
 * one below the required version means that D1 was restored to an earlier time (ADR-18).
 */
async function admitWithFreshRecord(
  c: Context<AppEnv>,
  keys: KeyLookup,
  isolate: ReadState,
): Promise<Exclude<Answer, { kind: "stale" }>> {
  const sentAtMs = c.get("receivedAtMs");
  let insteadOf: { insteadOfVersion?: number } = {};
  for (let tries = 1; ; tries++) {
    const answer = await requestAdmission(c.env, c.get("key"), {
      sentAtMs,
      bookmark: isolate.bookmark,
      forgetsBookmark: !settingsOf(c.env).readsFromReplicas,
      ...insteadOf,
    });
    if (answer.kind !== "stale") return answer;
    if (tries === MAX_TRIES) throw unavailable("The key is being changed. Please try again.", undefined);
    const record = await keys.reload(c.get("keyLookup"), answer.requiredVersion);
    c.set("key", record);
    insteadOf = record.version < answer.requiredVersion ? { insteadOfVersion: answer.requiredVersion } : {};
  }
}

/**
 * Called before a response that shows this state of D1 is sent: the limiter stores the bookmark, unless it has a later one.
 * In open mode without a limiter the key's next request may read an earlier state.
 */
export async function keepBookmark(c: Context<AppEnv>, seen: Bookmark | undefined): Promise<void> {
  const limiter = c.get("limiterBookmark");
  if (!limiter || laterBookmark(limiter.bookmark, seen) === limiter.bookmark || seen === undefined) return;
  await raiseBookmark(c.env, c.get("key"), seen);
}

/**
 * In open mode the request is admitted uncounted, unless the key's record in D1 refuses it: an operator's change takes
 * effect without the limiter, too. Undefined: admitted.
 */
async function failOpenOrThrow(
  c: Context<AppEnv>,
  keys: KeyLookup,
  cause: unknown,
): Promise<Extract<Decided, { kind: "banned" }> | undefined> {
  // Otherwise a key could pass its own limit by sending more than its limiter can serve.
  if (settingsOf(c.env).limiterFailureMode === "closed" || isOverload(cause)) {
    throw unavailable("The rate limiter cannot be reached. The request was not carried out.", cause);
  }
  const key = await keys.reload(c.get("keyLookup"));
  c.set("key", key);
  const nowMs = Date.now();
  const ban = liveBan(NO_PENALTY, key, nowMs);
  if (ban) return { kind: "banned", ban, quota: viewOf(roll(NOTHING_COUNTED, nowMs), key.limits), nowMs };
  logError("limiter_failed_open", cause, { requestId: c.get("requestId") });
  c.set("rateLimitHeaders", { ...headersWithoutQuota(nowMs), [DEGRADED_HEADER]: "limiter-unreachable" });
  return undefined;
}

function refusal(verdict: Exclude<Decided, { kind: "admitted" }>): ApiError {
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
