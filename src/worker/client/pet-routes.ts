/** `GET /pets/{petId}` is deprecated: 404 before its sunset date, then 410. The service stores no pets. */
import { Hono } from "hono";
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../context.ts";
import { ApiError, notFound } from "../platform/errors.ts";
import { settingsOf } from "../platform/settings.ts";
import { hasSunset, petsHeaders } from "../text/lifecycle.ts";
import { refuseOtherMethods } from "./errors.ts";

export const petRoutes = new Hono<AppEnv>()
  .get("/:petId", (c) => {
    const { petsSunsetDate } = settingsOf(c.env);
    if (hasSunset(petsSunsetDate, Date.now())) {
      throw new ApiError("gone", `This operation was removed on ${petsSunsetDate}.`);
    }
    throw notFound();
  })
  .all("/:petId", refuseOtherMethods("GET, HEAD"));

/** Where the documentation tells what happens to deprecated operations (RFC 9745 and RFC 8594). */
const LINKS = '</docs#versions>; rel="deprecation", </docs#versions>; rel="sunset"';

/** Adds `Deprecation`, `Sunset` and their links. Runs before authentication, so that refusals have the headers, too. */
export const announceSunset = createMiddleware<AppEnv>(async (c, next) => {
  await next();
  const headers = petsHeaders(settingsOf(c.env).petsSunsetDate);
  for (const [name, value] of Object.entries(headers)) c.res.headers.set(name, value);
  c.res.headers.append("Link", LINKS);
});
