/** What the console and the page of owners have in common below their pages: headers, cookies, the bound of forms. */
import { bodyLimit } from "hono/body-limit";
import { createMiddleware } from "hono/factory";
import { MAX_JSON_BODY_BYTES } from "../../admin/http/request-validation.ts";
import type { AppEnv } from "../../context.ts";
import { ApiError } from "../../platform/errors.ts";
import { urlOf, wasSentOverHttps } from "../../platform/request-url.ts";
import type { ConsoleContext } from "./page.tsx";

/** A form is read into memory, even before anybody has signed in. */
export const limitForms = bodyLimit({
  maxSize: MAX_JSON_BODY_BYTES,
  onError: () => {
    throw new ApiError("content_too_large", "The form is too large.");
  },
});

/** Allows scripts, styles and forms of this service only, and none inline. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Pages show secrets and internal data, so no cache may store them. */
export const keepPrivate = createMiddleware<AppEnv>(async (c, next) => {
  await next();
  c.res.headers.set("Cache-Control", "no-store");
  c.res.headers.set("Content-Security-Policy", CONTENT_SECURITY_POLICY);
  // With no-referrer, browsers send the Origin of forms as null.
  c.res.headers.set("Referrer-Policy", "same-origin");
  c.res.headers.set("Cross-Origin-Opener-Policy", "same-origin");
});

/**
 * A page of another host cannot set a cookie that is named `__Host-…`. Browsers take such a cookie only with
 * `Secure`, which Safari refuses on http://localhost. Only this machine is answered over http, so the other
 * name is safe there. Services on other ports of this machine share its cookies, so the name has the port.
 */
export function cookieOf(c: ConsoleContext, name = "session") {
  const secure = wasSentOverHttps(c.req.raw);
  const options = { path: "/", httpOnly: true, sameSite: "Strict", secure } as const;
  const { port } = urlOf(c.req.raw);
  return { name: `${secure ? `__Host-${name}` : name}${port && `-${port}`}`, options };
}
