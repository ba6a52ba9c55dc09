/** The app: its middleware and routes, in the order in which they run (ADR-1). Only this file defines the order. */
import { type Context, Hono, type HonoRequest } from "hono";
import { cors } from "hono/cors";
import { createMiddleware } from "hono/factory";
import { methodNotAllowed } from "hono/method-not-allowed";
import { routePath } from "hono/route";
import { secureHeaders } from "hono/secure-headers";
import { canChange, LOOK_FIRST } from "./admin/can-change.ts";
import { adminRoutes } from "./admin/routes/admin-routes.ts";
import { authenticate } from "./auth/authenticate.ts";
import { networkOf } from "./auth/ip-rate-limit.ts";
import { KeyLookup } from "./auth/key-lookup.ts";
import { type AppEnv, settingsOf } from "./context.ts";
import { isRepeatedCall } from "./db/audit-repository.ts";
import { isDatabaseOutage } from "./db/database.ts";
import { docsRoutes } from "./docs-routes.ts";
import { ApiError, notFound, renderError, repeatedCall, toApiError, unavailable } from "./errors.ts";
import { healthRoutes } from "./health/health-routes.ts";
import { attachRateLimitHeaders, enforceLimit } from "./limiter/enforce-limit.ts";
import { logError, logRequest, type RequestLine } from "./log.ts";
import { OrderList } from "./orders/order-list.ts";
import { storeOrderRoutes } from "./orders/order-routes.ts";
import { announceSunset, petRoutes } from "./pets/pet-routes.ts";
import { wasSentOverHttps } from "./request-url.ts";
import { TimeoutError } from "./with-timeout.ts";

/**
 * Includes the query. The longest URL that the admin API accepts has some 3,300 characters. Cloudflare passes on 16 kB, and a
 * waiting request keeps its URL in memory.
 */
export const MAX_URL_CHARS = 4_096;

/** An app holds the caches of one isolate. Two apps share only D1 and the limiters. */
export function createApp() {
  const app = new Hono<AppEnv>();
  app.use(finishAfterDisconnect, identifyAndLog, securityHeaders, attachRateLimitHeaders);
  app.use("/v1/pets/:petId", announceSunset);
  app.use("/v1/*", requireHttps, allowListedOrigins, requireShortUrl);
  app.use("/admin/*", requireHttps, requireShortUrl);
  app.route("/v1", versionOne());
  app.route("/admin", adminRoutes);
  app.route("/", docsRoutes);
  app.route("/", healthRoutes());
  app.notFound(() => renderError(notFound()));
  app.onError((thrown, c) => {
    const error = isRepeatedCall(thrown) ? repeatedCall() : errorOf(thrown, c.req);
    if (error.refusal) c.set("refusal", error.refusal);
    if (error.cause !== undefined) logError("request_failed", error.cause, { requestId: c.get("requestId") });
    return renderError(error);
  });
  return app;
}

function errorOf(thrown: unknown, request: HonoRequest): ApiError {
  const isOutage = isDatabaseOutage(thrown) || thrown instanceof TimeoutError;
  return isOutage && !(thrown instanceof ApiError)
    ? unavailable(`The database cannot be reached. ${adviceFor(request)}`, thrown)
    : toApiError(thrown);
}

/** D1 may have stored a change whose answer was lost. A cancel can be repeated without harm. */
function adviceFor(request: HonoRequest): string {
  return canChange(request.method, request.path, request.query("dry-run")) ? LOOK_FIRST : "Please try again.";
}

/** Every path under /v1 needs a key, also a path that does not exist. */
function versionOne() {
  const v1 = new Hono<AppEnv>();
  const keys = new KeyLookup();
  const orders = new OrderList();
  v1.use(authenticate(keys), enforceLimit(keys, orders));
  v1.use(
    methodNotAllowed({
      app: v1,
      onMethodNotAllowed: (_c, methods) =>
        renderError(
          new ApiError("method_not_allowed", "This method is not allowed here; see the Allow header.", {
            headers: { Allow: methods.join(", ") },
          }),
        ),
    }),
  );
  v1.route("/store/orders", storeOrderRoutes(orders));
  v1.route("/pets", petRoutes);
  return v1;
}

/**
 * When a client hangs up, the runtime cancels the request: the request would be counted without a log line, and an operator's
 * change would not reach the limiter. `waitUntil` gives the request 30 more seconds.
 */
const finishAfterDisconnect = createMiddleware<AppEnv>(async (c, next) => {
  const answer = next();
  c.executionCtx.waitUntil(answer);
  await answer;
});

const identifyAndLog = createMiddleware<AppEnv>(async (c, next) => {
  const receivedAtMs = Date.now();
  c.set("receivedAtMs", receivedAtMs);
  const requestId = crypto.randomUUID();
  c.set("requestId", requestId);
  await next();
  c.res.headers.set("X-Request-Id", requestId);
  const refusal = c.get("refusal");
  const doneAtMs = Date.now();
  logRequest({
    requestId,
    method: c.req.method,
    route: routePath(c, -1),
    status: c.res.status,
    durationMs: doneAtMs - receivedAtMs,
    ...decisionOf(c),
    ...stepTimes(c, receivedAtMs, doneAtMs),
    ...(refusal === undefined ? {} : { ...refusal, network: networkOf(c.req.raw.headers) }),
  });
});

function decisionOf(c: Context<AppEnv>): Partial<RequestLine> {
  const key = c.get("key");
  if (!key) return {};
  const decision = c.get("decision");
  if (!decision) return { keyId: key.id, plan: key.plan };
  const { verdict, dayPercent } = decision;
  const remaining = Number(c.get("rateLimitHeaders")?.["X-RateLimit-Remaining"]);
  return { keyId: key.id, plan: key.plan, verdict, remaining, dayPercent };
}

/** A request to the admin API has no `limitMs`: the admin API has no limiter. */
function stepTimes(c: Context<AppEnv>, receivedAtMs: number, doneAtMs: number): Partial<RequestLine> {
  const authenticatedAtMs = c.get("authenticatedAtMs");
  if (authenticatedAtMs === undefined) return {};
  const authenticateMs = authenticatedAtMs - receivedAtMs;
  const decision = c.get("decision");
  if (decision) {
    const limitMs = decision.atMs - authenticatedAtMs;
    return { authenticateMs, limitMs, routeMs: doneAtMs - decision.atMs };
  }
  return c.get("key") ? { authenticateMs } : { authenticateMs, routeMs: doneAtMs - authenticatedAtMs };
}

/** API responses are never shown as pages: no sniffing, no framing, no referrer, HTTPS for a year. */
const securityHeaders = secureHeaders({
  // base-uri and frame-ancestors do not fall back to default-src.
  contentSecurityPolicy: { defaultSrc: ["'none'"], baseUri: ["'none'"], frameAncestors: ["'none'"] },
  crossOriginOpenerPolicy: false,
  crossOriginResourcePolicy: false,
  originAgentCluster: false,
  strictTransportSecurity: "max-age=31536000; includeSubDomains",
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xFrameOptions: "DENY",
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

/**
 * Runs before the credential is read, and before a preflight is answered, so that browsers do not send the credential. A redirect
 * would hide that the credential was sent in clear. Cloudflare's edge adds CF-Ray to every request: a request without CF-Ray comes
 * from this machine or from a test, where there is no TLS.
 */
const requireHttps = createMiddleware<AppEnv>(async (c, next) => {
  if (wasSentOverHttps(c.req.raw) || c.req.header("CF-Ray") === undefined) return next();
  throw new ApiError(
    "https_required",
    "Use https. A key or token that was sent over http may have been read on the way: replace it.",
    { refusal: { reason: "plain http" } },
  );
});

const requireShortUrl = createMiddleware<AppEnv>(async (c, next) => {
  if (c.req.url.length <= MAX_URL_CHARS) return next();
  throw new ApiError(
    "uri_too_long",
    `The URL must have at most ${MAX_URL_CHARS} characters, with its query.`,
  );
});

const corsForListedOrigins = cors({
  origin: (origin, c) => (settingsOf(c.env).corsOrigins.includes(origin) ? origin : null),
  allowMethods: ["GET", "HEAD", "DELETE"],
  allowHeaders: ["Authorization", "If-None-Match"],
  exposeHeaders: [
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "RateLimit-Policy",
    "RateLimit",
    "Retry-After",
    "ETag",
    "Allow",
    "WWW-Authenticate",
    "Link",
    "Deprecation",
    "Sunset",
    "X-Request-Id",
  ],
  maxAge: 86_400,
});

/**
 * Runs before authentication, since a preflight carries no key. An OPTIONS request that is no preflight is counted and answered
 * 405, like any other request. Without listed origins there is no CORS at all.
 */
const allowListedOrigins = createMiddleware<AppEnv>(async (c, next) => {
  if (settingsOf(c.env).corsOrigins.length === 0) return next();
  if (c.req.method === "OPTIONS" && !isPreflight(c.req.raw.headers)) return next();
  return corsForListedOrigins(c, next);
});

/** The Fetch standard, 4.8: a CORS-preflight request has these two headers, and no credentials. */
function isPreflight(headers: Headers): boolean {
  return (
    headers.has("Origin") && headers.has("Access-Control-Request-Method") && !headers.has("Authorization")
  );
}
