/** Middleware: a key record becomes a pass, or 429; and every response gets its rate-limit headers. */
import { createMiddleware } from "hono/factory";
import { type Bindings, settingsOf } from "../env.ts";
import { ApiError, unavailable } from "../errors.ts";
import type { KeyRecord } from "../keys/key-record.ts";
import { logError } from "../log.ts";
import { type Answer, askLimiter } from "./limiter-client.ts";
import { headersOf, headersWithoutQuota, type RateLimitHeaders } from "./rate-limit-headers.ts";

type RateLimitEnv = {
  Bindings: Bindings;
  Variables: { rateLimitHeaders?: RateLimitHeaders };
};

type LimitedEnv = {
  Bindings: Bindings;
  Variables: {
    key: KeyRecord;
    reloadKey: () => Promise<KeyRecord>;
    requestId: string;
    rateLimitHeaders?: RateLimitHeaders;
  };
};

/** Marks an answer that was let through uncounted because the limiter could not be reached. */
export const DEGRADED_HEADER = "X-RateLimit-Degraded";

/** One for the cached record, one for the fresh one, one more for a change in between. */
const MOST_TRIES = 3;

/** Outermost, so that no answer leaves without: a refusal that brought its own headers keeps them. */
export const attachRateLimitHeaders = createMiddleware<RateLimitEnv>(async (c, next) => {
  await next();
  const headers = c.var.rateLimitHeaders ?? headersWithoutQuota(Date.now());
  for (const [name, value] of Object.entries(headers)) {
    if (!c.res.headers.has(name)) c.res.headers.set(name, value);
  }
});

/** One RPC; for the first request after the key was changed also a D1 query and a second RPC. */
export const enforceLimit = createMiddleware<LimitedEnv>(async (c, next) => {
  const answer = await answerFor(c.env, c.var.key, c.var.reloadKey);
  if (answer.kind === "unreachable") {
    if (settingsOf(c.env).limiterFailureMode === "closed") {
      throw unavailable("The rate limiter cannot be reached. The request was not carried out.", answer.cause);
    }
    logError("request_let_through_uncounted", answer.cause, { requestId: c.var.requestId });
    c.set("rateLimitHeaders", {
      ...headersWithoutQuota(Date.now()),
      [DEGRADED_HEADER]: "limiter-unreachable",
    });
  } else {
    c.set("rateLimitHeaders", headersOf(answer));
    if (answer.kind !== "admitted") throw refusal(answer);
  }
  await next();
});

type FinalAnswer = Exclude<Answer, { kind: "stale" }>;

/** The limiter knows of changes before this isolate's cache does: a stale record is read anew until it is not. */
async function answerFor(
  env: Bindings,
  cached: KeyRecord,
  reloadKey: () => Promise<KeyRecord>,
): Promise<FinalAnswer> {
  let key = cached;
  for (let tries = 1; ; tries++) {
    const { version, limits, decree } = key;
    const answer = await askLimiter(env, key.id, { version, limits, decree });
    if (answer.kind !== "stale") return answer;
    if (tries === MOST_TRIES)
      return { kind: "unreachable", cause: new Error(`record of ${key.id} stays stale`) };
    key = await reloadKey();
  }
}

function refusal(verdict: Exclude<FinalAnswer, { kind: "unreachable" | "admitted" }>): ApiError {
  if (verdict.kind === "banned") {
    const until = new Date(verdict.ban.endsAtMs).toISOString().replace(".000Z", "Z");
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
