/** The app: its middleware and routes, in the order in which they run (ADR-1). The order is set here only. */
import { type Context, Hono } from "hono";
import { cors } from "hono/cors";
import { createMiddleware } from "hono/factory";
import { type Errors, refusePlainHttp, respond, withErrors } from "./answer.ts";
import { authenticate } from "./client/authenticate.ts";
import { docsRoutes } from "./client/docs-routes.ts";
import { renderClientError } from "./client/errors.ts";
import { healthRoutes } from "./client/health-routes.ts";
import { enforceLimit } from "./client/limit.ts";
import { storeOrders } from "./client/orders/routes.ts";
import { announceSunset, petRoutes } from "./client/pet-routes.ts";
import type { AppEnv } from "./context.ts";
import { MacKeys } from "./key/mac.ts";
import { notFound } from "./platform/errors.ts";
import { settingsOf } from "./platform/settings.ts";
import { DAY_SECONDS } from "./text/time.ts";

/** A path of the request is never repeated. The client API is small enough to be named. */
const OF_CLIENTS: Errors = {
  noSuchPath: notFound(
    "The path does not exist. The paths are GET /v1/store/orders and DELETE /v1/store/orders/{orderId}.",
  ),
  render: (_c, error) => renderClientError(error),
};

/** An app holds the caches of an isolate. Two apps share only D1 and the limiters. */
export function createApp() {
  const app = new Hono<AppEnv>();
  let operators: Hono<AppEnv> | undefined;
  const toOperators = async (c: Context<AppEnv>) => {
    const { operatorsApp } = await loadOperators();
    operators ??= operatorsApp();
    return operators.fetch(c.req.raw, c.env, c.executionCtx);
  };
  app.all("/admin/*", toOperators);
  app.all("/console/*", toOperators);
  app.all("/owner/*", toOperators);
  app.use(respond);
  app.use("/v1/pets/:petId", announceSunset);
  app.use("/v1/*", requireHttpsThenCors);
  app.route("/v1", versionOne());
  app.route("/", docsRoutes);
  app.route("/", healthRoutes());
  return withErrors(app, OF_CLIENTS);
}

/** An isolate that serves clients only does not load what operators need (ADR-38). */
export const loadOperators = () => import("./operators.ts");

/** Every path under /v1 needs a key, even a path that does not exist. */
function versionOne() {
  const v1 = new Hono<AppEnv>();
  const { readAhead, routes } = storeOrders();
  v1.use(authenticate(new MacKeys()));
  v1.get("/store/orders", readAhead);
  v1.use(enforceLimit);
  v1.route("/store/orders", routes);
  v1.route("/pets", petRoutes);
  return v1;
}

const corsForListedOrigins = cors({
  origin: (origin, c) => (settingsOf(c.env).corsOrigins.includes(origin) ? origin : null),
  allowMethods: ["GET", "HEAD", "DELETE"],
  // Without allowHeaders, a preflight may ask for any header. SDKs send Content-Type and more.
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
  maxAge: DAY_SECONDS,
});

/**
 * Runs before authentication, because a preflight carries no key. Any other OPTIONS request is counted and
 * answered 405. Without listed origins there is no CORS at all.
 */
const requireHttpsThenCors = createMiddleware<AppEnv>((c, next) => {
  refusePlainHttp(c);
  if (settingsOf(c.env).corsOrigins.length === 0) return next();
  if (c.req.method === "OPTIONS" && !isPreflight(c.req.raw.headers)) return next();
  return corsForListedOrigins(c, next);
});

/** The Fetch standard, 4.8: a CORS-preflight request has these two headers and no credentials. */
function isPreflight(headers: Headers): boolean {
  return (
    headers.has("Origin") && headers.has("Access-Control-Request-Method") && !headers.has("Authorization")
  );
}
