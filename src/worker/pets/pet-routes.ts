/** `GET /pets/{petId}`, the deprecated operation: 404 before its sunset date, 410 after. The service stores no pets. */
import { Hono } from "hono";
import { createMiddleware } from "hono/factory";
import { type Deprecation, deprecationHeaders, hasSunset, lifecyclesOf } from "../../openapi/lifecycle.ts";
import { type AppEnv, type Bindings, settingsOf } from "../context.ts";
import { ApiError, notFound } from "../errors.ts";

export const petRoutes = new Hono<AppEnv>().get("/:petId", (c) => {
  const deprecation = deprecationOf(c.env);
  if (deprecation && hasSunset(deprecation, Date.now())) {
    throw new ApiError("gone", `This operation was removed on ${deprecation.sunsetDate}.`);
  }
  throw notFound();
});

/** Adds `Deprecation` and `Sunset`. It runs before authentication, so that refusals have the headers too. */
export const announceSunset = createMiddleware<AppEnv>(async (c, next) => {
  await next();
  const deprecation = deprecationOf(c.env);
  if (!deprecation) return;
  for (const [name, value] of Object.entries(deprecationHeaders(deprecation))) {
    c.res.headers.set(name, value);
  }
});

function deprecationOf(env: Bindings): Deprecation | undefined {
  return lifecyclesOf(settingsOf(env)).getPet.deprecation;
}
