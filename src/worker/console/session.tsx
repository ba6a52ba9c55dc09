/** Who uses the console: an identity from Cloudflare Access, or a session that began with an admin token. */
import type { Context } from "hono";
import { deleteCookie, getSignedCookie, setSignedCookie } from "hono/cookie";
import { createMiddleware } from "hono/factory";
import { ASSERTION_HEADER } from "../admin/sign-in/access-identity.ts";
import {
  beginAs,
  type Caller,
  callerWith,
  operatorName,
  provenCaller,
  requireToken,
  waysIn,
} from "../admin/sign-in/require-admin.ts";
import type { AppEnv } from "../context.ts";
import { ERROR_STATUS } from "../error-codes.ts";
import { ApiError } from "../errors.ts";
import { urlOf, wasSentOverHttps } from "../request-url.ts";
import { type AdminToken, settingsOf } from "../settings.ts";
import { nowSeconds } from "../time.ts";
import { formOf } from "./forms.ts";
import { barePage, type ConsoleContext } from "./page.tsx";
import { Field, Notice } from "./ui.tsx";

const COOKIE = "session";
const PATH = "/console";
const SESSION_SECONDS = 12 * 3_600;
const READS = /^((GET|HEAD) |POST \/console\/search$)/;

/** Without a session, a page is the form for signing in, and a change is refused. */
export const requireOperator = createMiddleware<AppEnv>(async (c, next) => {
  const { access, tokens } = waysIn(c);
  const assertion = c.req.header(ASSERTION_HEADER);
  const caller =
    access !== undefined && assertion !== undefined
      ? await provenCaller(c, assertion, access)
      : await callerOfSession(c, tokens);
  if (caller !== undefined) {
    beginAs(c, caller, READS);
    return next();
  }
  if (tokens.length === 0) throw new ApiError("unauthorized", "Sign in through Cloudflare Access.");
  // A browser sends a cookie with SameSite=Strict to a page that another site links to only from the second request on.
  if (c.req.method === "GET" && c.req.header("Sec-Fetch-Site") === "cross-site") {
    return c.html('<!doctype html><meta http-equiv="refresh" content="0"><title>Store Orders</title>');
  }
  const { pathname, search } = urlOf(c.req.raw);
  const to = c.req.method === "GET" ? pathname + search : PATH;
  return signInPage(c, { to, status: c.req.method === "GET" ? 200 : 401 });
});

/** The token that signed the cookie says whether the session may only read. */
async function callerOfSession(
  c: Context<AppEnv>,
  tokens: readonly AdminToken[],
): Promise<Caller | undefined> {
  for (const { secret, mayOnlyRead } of tokens) {
    const value = await getSignedCookie(c, secret, COOKIE);
    const [, endsAtSeconds, actor] = /^(\d+) (.+)$/.exec(value || "") ?? [];
    if (actor !== undefined && Number(endsAtSeconds) > nowSeconds()) return { actor, mayOnlyRead };
  }
  return undefined;
}

/** The cookie is signed with the token that was typed, so that another token ends the sessions of this one. */
export async function signIn(c: ConsoleContext): Promise<Response> {
  const { tokens } = waysIn(c);
  const { token: typed = "", operator = "", to = PATH } = await formOf(c);
  try {
    const token = await requireToken(c, tokens, typed.trim());
    const { actor } = callerWith(c, token, operatorName(c, "Your name", operator));
    const value = `${nowSeconds() + SESSION_SECONDS} ${actor}`;
    await setSignedCookie(c, COOKIE, value, token.secret, { ...cookieOptions(c), maxAge: SESSION_SECONDS });
    return c.redirect(/^\/console(?![^/?])/.test(to) ? to : PATH, 303);
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown;
    const status = ERROR_STATUS[thrown.code];
    if (status !== 400 && status !== 401) throw thrown;
    return signInPage(c, { to, operator: status === 400 ? "" : operator, problem: thrown.message, status });
  }
}

export function signOut(c: ConsoleContext): Response {
  deleteCookie(c, COOKIE, cookieOptions(c));
  // The session of Access is its own.
  const isOfAccess = settingsOf(c.env).access !== undefined && c.req.header(ASSERTION_HEADER) !== undefined;
  return c.redirect(isOfAccess ? "/cdn-cgi/access/logout" : PATH, 303);
}

function cookieOptions(c: ConsoleContext) {
  return { path: PATH, httpOnly: true, sameSite: "Strict", secure: wasSentOverHttps(c.req.raw) } as const;
}

type SignIn = {
  readonly to: string;
  readonly operator?: string;
  readonly problem?: string;
  readonly status: 200 | 400 | 401;
};

function signInPage(c: ConsoleContext, { to, operator, problem, status }: SignIn) {
  return barePage(
    c,
    { title: "Sign in", status },
    <form method="post" action="/console/sign-in" class="panel">
      {problem !== undefined && (
        <Notice kind="bad">
          <p>{problem}</p>
        </Notice>
      )}
      <input type="hidden" name="to" value={to} />
      <Field
        name="operator"
        label="Your name"
        value={operator}
        hint="Shown in the audit log; not verified."
        attributes={{ maxlength: 64, autocomplete: "username" }}
      />
      <Field
        name="token"
        label="Admin token"
        type="password"
        attributes={{ required: true, autocomplete: "current-password", autofocus: true }}
      />
      <button type="submit" class="button primary">
        Sign in
      </button>
    </form>,
  );
}
