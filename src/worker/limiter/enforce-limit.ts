/** Middleware: asks the key's limiter to admit the request, answers 429 if it refuses, and sets the rate-limit headers. */
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import type { KeyLookup } from "../auth/key-lookup.ts";
import { type AppEnv, settingsOf } from "../context.ts";
import { ApiError, unavailable } from "../errors.ts";
import { rfc3339 } from "../time.ts";
import { type Bookmark, laterBookmark } from "./core/bookmark.ts";
import type { WindowView } from "./core/quota.ts";
import { type Decided, headersWithoutQuota, rateLimitHeaders } from "./core/rate-limit-headers.ts";
import { raiseBookmark, requestAdmission } from "./limiter-client.ts";

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

/** The newest D1 bookmark that this isolate has seen. */
export type ReadState = { readonly bookmark: Bookmark | undefined };

/** One RPC. For the first request after a change of the key also a D1 query and a second RPC. */
export function enforceLimit(keys: KeyLookup, isolate: ReadState) {
  return createMiddleware<AppEnv>(async (c, next) => {
    const verdict = await admitWithFreshRecord(c, keys, isolate);
    const dayPercent = percentUsed(verdict.quota.day);
    c.set("decision", { verdict: verdict.kind, atMs: Date.now(), dayPercent });
    c.set("rateLimitHeaders", rateLimitHeaders(verdict));
    if (verdict.kind !== "admitted") throw refusal(verdict);
    c.set("limiterBookmark", { bookmark: verdict.bookmark });
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
): Promise<Decided> {
  const sentAtMs = c.get("receivedAtMs");
  let insteadOf: { insteadOfVersion?: number } = {};
  for (let tries = 1; ; tries++) {
    const verdict = await requestAdmission(c.env, c.get("key"), {
      sentAtMs,
      bookmark: isolate.bookmark,
      forgetsBookmark: !settingsOf(c.env).readsFromReplicas,
      ...insteadOf,
    });
    if (verdict.kind !== "stale") return verdict;
    if (tries === MAX_TRIES) throw unavailable("The key is being changed. Please try again.", undefined);
    const record = await keys.reload(c.get("keyLookup"), verdict.requiredVersion);
    c.set("key", record);
    insteadOf = record.version < verdict.requiredVersion ? { insteadOfVersion: verdict.requiredVersion } : {};
  }
}

/** Called before a response that shows this state of D1 is sent: the limiter stores the bookmark, unless it has a later one. */
export async function keepBookmark(c: Context<AppEnv>, seen: Bookmark | undefined): Promise<void> {
  const limiter = c.get("limiterBookmark");
  if (!limiter || laterBookmark(limiter.bookmark, seen) === limiter.bookmark || seen === undefined) return;
  await raiseBookmark(c.env, c.get("key"), seen);
}

function refusal(verdict: Exclude<Decided, { kind: "admitted" }>): ApiError {
  if (verdict.kind === "banned") {
    const until = rfc3339(verdict.ban.endsAtMs / 1000);
    return new ApiError("key_banned", `This API key is banned until ${until}.`);
  }
  const { limit, name } = verdict.exhausted;
  return new ApiError(
    "rate_limit_exceeded",
    `The limit of ${limit} requests per ${name} is used up. Retry after the time in Retry-After.`,
  );
}
