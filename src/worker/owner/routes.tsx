/**
 * The page of owners, mounted at `/owner`: whoever has the code of a link sees the keys of one customer
 * (ADR-34). The cookie is the code, so the link's end or revocation ends every use of it at once.
 */
import { Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { createMiddleware } from "hono/factory";
import { perDay, perMinute, rateLimit } from "hono-durable-limiter";
import { findLiveLink, noteOpening } from "../admin/links/sql.ts";
import { refuseChangesOfOtherSites } from "../admin/sign-in/own-origin.ts";
import { beginAs, OWNER_ACTOR } from "../admin/sign-in/require-admin.ts";
import { formOf } from "../console/kit/forms.ts";
import { cookieOf, keepPrivate, limitForms } from "../console/kit/headers.ts";
import { barePage, type ConsoleContext } from "../console/kit/page.tsx";
import { Field, Notice, Submit } from "../console/kit/ui.tsx";
import type { AppEnv } from "../context.ts";
import { openDatabase } from "../db/database.ts";
import { hashKey, MacKeys } from "../key/mac.ts";
import { ownerCodeIn } from "../key/owner-code.ts";
import { ApiError, unavailable } from "../platform/errors.ts";
import { logError } from "../platform/log.ts";
import { formatDuration } from "../text/format.ts";
import { HOUR_SECONDS, nowSeconds } from "../text/time.ts";
import { rotate, showKeys, showReport } from "./page.tsx";

const SESSION_SECONDS = 12 * HOUR_SECONDS;
/** Of all links of a customer. A page asks some ten times as much of the database as a list of orders. */
const LIMITS = [perMinute(30), perDay(500)];
const COOKIE = "owner";

export function ownerRoutes() {
  const macKeys = new MacKeys();
  /** Does no I/O after the isolate's first request. */
  const requireCode = createMiddleware<AppEnv>(async (c, next) => {
    const sent = isSignIn(c) ? (await formOf(c)).code : getCookie(c, cookieOf(c, COOKIE).name);
    const code = ownerCodeIn(sent ?? "");
    if (sent === undefined) return codePage(c);
    if (code === undefined) return codePage(c, "malformed");
    if (!(await macKeys.verify(c.env, code))) return codePage(c, "invented");
    c.set("ownerCode", code);
    return next();
  });
  return new Hono<AppEnv>()
    .use(keepPrivate, refuseChangesOfOtherSites, limitForms)
    .post("/leave", leave)
    .get("/:form{leave|rotate}", (c) => c.redirect("/owner"))
    .use(requireCode, requireLink, admit, noteLink)
    .get("/", showKeys)
    .get("/report", showReport)
    .post("/", enter)
    .post("/rotate", rotate);
}

/** A code that opens nothing is not counted, so it has one answer and shuts nobody out. */
const admit = rateLimit<AppEnv>({
  namespace: (c) => c.env.OWNER_LIMITER,
  key: (c) => c.var.ownerLink.customerId,
  limits: LIMITS,
  onRefused: (_c, { retryAfterMs }) => {
    const wait = formatDuration((retryAfterMs ?? 0) / 1000);
    const message = `This page was opened too often. Please try again in ${wait}.`;
    throw new ApiError("rate_limit_exceeded", message, { refusal: { reason: "opened too often" } });
  },
  onUnreachable: (_c, _next, cause) => {
    throw unavailable("The page cannot be shown at the moment. Please try again.", cause);
  },
});

/** Whoever has a link that has ended learns no more than whoever invents a code. */
const requireLink = createMiddleware<AppEnv>(async (c, next) => {
  const link = await findLiveLink(openDatabase(c.env.DB), await hashKey(c.var.ownerCode.code), nowSeconds());
  if (link === undefined) return codePage(c, "link_ended");
  c.set("ownerLink", link);
  beginAs(c, { actor: `${OWNER_ACTOR}${link.customerId})`, mayOnlyRead: false });
  return next();
});

/** Not awaited: pages are read while D1 takes no writes. */
const noteLink = createMiddleware<AppEnv>(async (c, next) => {
  const noted = noteOpening(openDatabase(c.env.DB), c.var.ownerLink, nowSeconds());
  c.executionCtx.waitUntil(noted.catch((thrown) => logError("link_opening_not_stored", thrown)));
  return next();
});

function isSignIn(c: ConsoleContext): boolean {
  return c.req.method === "POST" && c.req.path === "/owner";
}

function enter(c: ConsoleContext): Response {
  const { name, options } = cookieOf(c, COOKIE);
  setCookie(c, name, c.var.ownerCode.code, { ...options, maxAge: SESSION_SECONDS });
  return c.redirect("/owner", 303);
}

function leave(c: ConsoleContext): Response {
  const { name, options } = cookieOf(c, COOKIE);
  deleteCookie(c, name, options);
  c.header("Clear-Site-Data", '"cache"'); // Chromium keeps whole pages for Back
  return c.redirect("/owner", 303);
}

/**
 * Without a script, the code of a link stays in the address, and a person copies the link into the field. The log
 * has the reason why a code was refused.
 */
function codePage(c: ConsoleContext, refused?: string): Response | Promise<Response> {
  const isChange = c.req.method === "POST" && !isSignIn(c);
  const reason = refused ?? (isChange ? "missing" : undefined);
  if (reason !== undefined) c.set("refusal", { reason });
  return barePage(
    c,
    { title: "Your link", status: reason === undefined ? 200 : 401 },
    <form method="post" action="/owner" class="panel">
      {reason !== undefined && (
        <Notice kind="bad">
          {isChange && "Nothing was done. "}
          {refused !== undefined
            ? "This link has ended, or is no link of this page. Please ask for another one."
            : "After 12 hours, this page asks for your link again."}
        </Notice>
      )}
      <Field
        name="code"
        label="The link"
        type="password"
        hint="You were sent a link to this page. Paste the whole link, or what follows its #."
        attributes={{ required: true, maxlength: 500 }}
      />
      <Submit tone="primary">Show my keys</Submit>
    </form>,
    "/owner",
  );
}
