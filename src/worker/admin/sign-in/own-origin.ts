/** Refuses requests of other sites: a browser sends the cookie of Access for the pages of any site. */
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../../context.ts";
import { ApiError } from "../../platform/errors.ts";
import { isOwnOrigin } from "../../platform/request-url.ts";

/** Any site may link to a page. */
export const refuseChangesOfOtherSites = createMiddleware<AppEnv>(async (c, next) => {
  if (c.req.method !== "GET" && c.req.method !== "HEAD") refuseOtherSites(c);
  await next();
});

/** Throws the 403. Programs send neither header. A browser says `none` for an address that a person typed. */
export function refuseOtherSites(c: Context<AppEnv>): void {
  const origin = c.req.header("Origin");
  const site = c.req.header("Sec-Fetch-Site") ?? "none";
  const isOwn = origin === undefined || isOwnOrigin(origin, c.req.raw);
  if (isOwn && (site === "same-origin" || site === "none")) return;
  throw new ApiError(
    "other_site",
    "A page of another site sent this. Use the console, or type the address.",
    {
      refusal: { reason: "another site" },
    },
  );
}
