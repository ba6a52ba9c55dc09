/** How every request is answered: its id, quota, security headers and log line, its errors, and HTTPS only. */
import type { Context, Hono, Next } from "hono";
import { createMiddleware } from "hono/factory";
import { routePath } from "hono/route";
import { clientAddress } from "hono-durable-limiter";
import { attachRateLimitHeaders } from "./client/limit.ts";
import type { AppEnv } from "./context.ts";
import { isDatabaseOutage, takesNoWrites } from "./db/database.ts";
import { schemaProblemBehind } from "./db/schema-problem.ts";
import { ApiError, toApiError, unavailable } from "./platform/errors.ts";
import { logError, logRequest, type RequestLine, weightOf } from "./platform/log.ts";
import { wasSentOverHttps } from "./platform/request-url.ts";
import { settingsOf } from "./platform/settings.ts";
import { TimeoutError } from "./platform/with-timeout.ts";

/** How an app answers errors. The error is made once, because making an error takes longer than the response. */
export type Errors = {
  readonly noSuchPath: ApiError;
  readonly render: (c: Context<AppEnv>, error: ApiError) => Response | Promise<Response>;
};

export function withErrors(app: Hono<AppEnv>, { noSuchPath, render }: Errors): Hono<AppEnv> {
  app.notFound((c) => render(c, noSuchPath));
  app.onError(async (thrown, c) => {
    const problem = await schemaProblemBehind(c.env, thrown);
    // Clients cannot help it, and get the error of any other bug.
    const isShown = problem !== undefined && !c.req.path.startsWith("/v1/");
    const error = isShown ? unavailable(problem.says, thrown) : errorOf(thrown, c.req.method);
    if (error.refusal) c.set("refusal", error.refusal);
    if (error.cause !== undefined) logError("request_failed", error.cause, { requestId: c.get("requestId") });
    return render(c, error);
  });
  return app;
}

export function isPage(path: string): boolean {
  return /^\/(console|owner)(?![^/])/.test(path);
}

/** If D1's answer was lost, D1 may have stored the change or the cancel. */
function errorOf(thrown: unknown, method: string): ApiError {
  const isOutage = isDatabaseOutage(thrown) || thrown instanceof TimeoutError;
  if (!isOutage || thrown instanceof ApiError) return toApiError(thrown);
  if (takesNoWrites(thrown))
    return unavailable("The database takes no changes at the moment. Nothing was changed.", thrown);
  const advice = /^(GET|HEAD)$/.test(method)
    ? "Please try again."
    : "If this was a change, it may have been made: look, then try again.";
  return unavailable(`The database cannot be reached. ${advice}`, thrown);
}

/**
 * When a client hangs up, the runtime cancels the request. The request would then be counted without a log
 * line, and an operator's change would not reach the limiter. `waitUntil` gives the request 30 more seconds.
 */
export const respond = createMiddleware<AppEnv>((c, next) => {
  const answered = answer(c, next);
  c.executionCtx.waitUntil(answered);
  return answered;
});

/** Gives each response its id, its quota and the security headers, and logs the request. */
async function answer(c: Context<AppEnv>, next: Next): Promise<void> {
  const receivedAtMs = Date.now();
  const requestId = crypto.randomUUID();
  c.set("requestId", requestId);
  await next();
  const { headers } = c.res;
  headers.set("X-Request-Id", requestId);
  attachRateLimitHeaders(headers);
  attachSecurityHeaders(headers);
  const request = { requestId, method: c.req.method, status: c.res.status, ...operatorOf(c) };
  const weight = weightOf(request, settingsOf(c.env).logsOneIn);
  if (weight === 0) return;
  const refusal = c.get("refusal");
  const doneAtMs = Date.now();
  logRequest({
    ...request,
    route: routePath(c, -1),
    durationMs: doneAtMs - receivedAtMs,
    weight,
    ...decisionOf(c),
    ...stepTimes(c, receivedAtMs, doneAtMs),
    ...(refusal === undefined ? {} : { ...refusal, network: clientAddress(c) }),
  });
}

function decisionOf(c: Context<AppEnv>): Partial<RequestLine> {
  const key = c.get("key");
  const verdict = c.get("rateLimit");
  if (!key || !verdict || verdict.kind === "unknown") return key ? { keyId: key.id } : {};
  const { kind, quota, facts } = verdict;
  const day = quota.find(({ name }) => name === "day");
  return {
    keyId: key.id,
    plan: String(facts.plan),
    verdict: kind,
    remaining: Number(c.res.headers.get("X-RateLimit-Remaining")),
    // Rounded down, so that 100 means used up.
    ...(day && { dayPercent: Math.floor((100 * day.used) / day.limit) }),
  };
}

function operatorOf(c: Context<AppEnv>): Partial<RequestLine> {
  const link = c.get("ownerLink");
  if (link) return { operator: link.id, network: clientAddress(c) };
  const author = c.get("author");
  return author ? { operator: author.actor } : {};
}

/** A request to the admin API has no `limitMs`, because the admin API has no limiter. */
function stepTimes(c: Context<AppEnv>, receivedAtMs: number, doneAtMs: number): Partial<RequestLine> {
  const authenticatedAtMs = c.get("authenticatedAtMs");
  if (authenticatedAtMs === undefined) return {};
  const authenticateMs = authenticatedAtMs - receivedAtMs;
  if (!c.get("key")) return { authenticateMs, routeMs: doneAtMs - authenticatedAtMs };
  const admittedAtMs = c.get("admittedAtMs");
  if (admittedAtMs === undefined) return { authenticateMs, limitMs: doneAtMs - authenticatedAtMs };
  return { authenticateMs, limitMs: admittedAtMs - authenticatedAtMs, routeMs: doneAtMs - admittedAtMs };
}

/** No browser shows an API response as a page: no sniffing, no framing, no referrer, HTTPS for a year. */
const SECURITY_HEADERS = Object.entries({
  // base-uri and frame-ancestors do not fall back to default-src.
  "Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "Strict-Transport-Security": "max-age=31536000; includeSubDomains",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
});

/** Pages have their own policy. */
function attachSecurityHeaders(headers: Headers): void {
  for (const [name, value] of SECURITY_HEADERS) if (!headers.has(name)) headers.set(name, value);
}

export const requireHttps = createMiddleware<AppEnv>((c, next) => {
  refusePlainHttp(c);
  return next();
});

/**
 * Runs before a preflight is answered, so that browsers send no credential over plain HTTP. A redirect would
 * hide that a client sent its credential in clear. Cloudflare's edge adds CF-Ray to every request: a request
 * without CF-Ray comes from this machine or from a test, where there is no TLS.
 */
export function refusePlainHttp(c: Context<AppEnv>): void {
  if (wasSentOverHttps(c.req.raw) || c.req.header("CF-Ray") === undefined) return;
  throw new ApiError(
    "https_required",
    "Use https. A key or token that was sent over http may have been read on the way: replace it.",
    { refusal: { reason: "plain http" } },
  );
}
