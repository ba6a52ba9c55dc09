/** Who uses the console: an identity from Cloudflare Access, or a session that began with an admin token. */
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { createMiddleware } from "hono/factory";
import { clientAddress } from "hono-durable-limiter";
import {
  deleteSession,
  findSession,
  insertSession,
  SESSION_SECONDS,
  updateSeenAt,
} from "../admin/sessions/sql.ts";
import { ASSERTION_HEADER } from "../admin/sign-in/access-identity.ts";
import {
  beginAs,
  type Caller,
  callerOfAccess,
  callerWith,
  operatorName,
  requireToken,
  requireWriter,
  waysIn,
} from "../admin/sign-in/require-admin.ts";
import type { AppEnv } from "../context.ts";
import { type Database, openDatabase, transact } from "../db/database.ts";
import { hasKey } from "../key/key.ts";
import { hashKey } from "../key/mac.ts";
import { ERROR_STATUS } from "../platform/error-codes.ts";
import { ApiError } from "../platform/errors.ts";
import { logError, logEvent } from "../platform/log.ts";
import { urlOf } from "../platform/request-url.ts";
import type { AdminToken } from "../platform/settings.ts";
import { nowSeconds } from "../text/time.ts";
import { formOf } from "./kit/forms.ts";
import { cookieOf } from "./kit/headers.ts";
import { barePage, type ConsoleContext, LIVE } from "./kit/page.tsx";
import { Field, Notice, Submit } from "./kit/ui.tsx";

const PATH = "/console";
/** So that most pages cost no write. */
const SEEN_AGAIN_AFTER_SECONDS = 300;
const READS = /^((GET|HEAD) |POST \/console\/find$)/;

/** Without a session, a page is the form for signing in, and a change is refused. */
export const requireOperator = createMiddleware<AppEnv>(async (c, next) => {
  const { access, tokens } = waysIn(c);
  const caller = (await callerOfAccess(c, access)) ?? (await callerOfSession(c, tokens));
  if (caller !== undefined) {
    beginAs(c, caller);
    if (!READS.test(`${c.req.method} ${c.req.path}`)) requireWriter(c.var);
    return next();
  }
  if (tokens.length === 0) throw new ApiError("unauthorized", "Sign in through Cloudflare Access.");
  // After a link of another site, a browser sends a cookie with SameSite=Strict from the second request on.
  if (c.req.method === "GET" && c.req.header("Sec-Fetch-Site") === "cross-site") {
    return c.html('<!doctype html><meta http-equiv="refresh" content="0"><title>Store Orders</title>');
  }
  const { pathname, search } = urlOf(c.req.raw);
  const to = hasKey(pathname + search) ? PATH : pathname + search; // no page repeats a secret
  if (c.req.method === "GET") return signInPage(c, { to, status: 200 });
  return signInPage(c, { to, notice: SESSION_ENDED, status: 401 });
});

const SESSION_ENDED = "The session has ended, and nothing was done. Sign in, and send the form again.";

/** Undefined if the cookie has no live session, or the session began with a token that was replaced. */
async function callerOfSession(
  c: ConsoleContext,
  tokens: readonly AdminToken[],
): Promise<Caller | undefined> {
  const id = getCookie(c, cookieOf(c).name);
  if (!id) return undefined;
  const [db, idHash, now] = [openDatabase(c.env.DB), await hashKey(id), nowSeconds()];
  const session = await findSession(db, idHash, now);
  if (session === undefined) return undefined;
  for (const token of tokens) {
    if (session.tokenHash !== (await hashKey(id + token.secret))) continue;
    // Not awaited: pages are read while D1 takes no writes.
    const isUsed = c.req.query(LIVE) === undefined && now - session.seenAt >= SEEN_AGAIN_AFTER_SECONDS;
    if (isUsed) c.executionCtx.waitUntil(noteUse(db, idHash, now));
    return callerWith(c, token, session.name);
  }
  return undefined;
}

async function noteUse(db: Database, idHash: string, now: number): Promise<void> {
  try {
    await updateSeenAt(db, idHash, now);
  } catch (thrown) {
    logError("session_use_not_stored", thrown);
  }
}

/** A session that the browser already has ends with it. */
export async function signIn(c: ConsoleContext): Promise<Response> {
  const { tokens } = waysIn(c);
  const { token: typed = "", operator = "", to = PATH } = await formOf(c);
  try {
    const token = await requireToken(c, tokens, typed.trim());
    const name = operatorName(c, "Your name", operator);
    const [db, now, cookie] = [openDatabase(c.env.DB), nowSeconds(), cookieOf(c)];
    const id = crypto
      .getRandomValues(new Uint8Array(32))
      .toBase64({ alphabet: "base64url", omitPadding: true });
    const [idHash, tokenHash] = await Promise.all([hashKey(id), hashKey(id + token.secret)]);
    await transact(db, [
      deleteSession(db, await hashKey(getCookie(c, cookie.name) ?? "")), // no session has an empty id
      insertSession(db, { idHash, name, tokenHash, endsAt: now + SESSION_SECONDS, seenAt: now }),
    ]);
    setCookie(c, cookie.name, id, { ...cookie.options, maxAge: SESSION_SECONDS });
    logSignIn(c, "admin_signed_in", callerWith(c, token, name));
    return c.redirect(consolePathOf(c, to), 303);
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown;
    const status = ERROR_STATUS[thrown.code];
    if (status !== 400 && status !== 401) throw thrown;
    const wrong = status === 400 ? { operator: thrown.message } : { token: thrown.message };
    return signInPage(c, { to, operator: status === 400 ? "" : operator, wrong, status });
  }
}

/** A page of this console: `to` comes from a form, which anybody can make. */
function consolePathOf(c: ConsoleContext, to: string): string {
  const url = URL.parse(to, urlOf(c.req.raw).origin);
  return url !== null && /^\/console(\/|$)/.test(url.pathname) ? url.pathname + url.search : PATH;
}

export async function signOut(c: ConsoleContext): Promise<Response> {
  const { access, tokens } = waysIn(c);
  const { name, options } = cookieOf(c);
  const caller = await callerOfSession(c, tokens);
  const id = deleteCookie(c, name, options);
  // An invented cookie costs one read, and no statement that writes.
  if (caller !== undefined && id !== undefined) {
    await deleteSession(openDatabase(c.env.DB), await hashKey(id));
    logSignIn(c, "admin_signed_out", caller);
  }
  // Chromium keeps whole pages for Back. "cookies" would end the sessions of other ports of this machine, too.
  c.header("Clear-Site-Data", '"cache"');
  // The session of Access is its own.
  const isOfAccess = access !== undefined && c.req.header(ASSERTION_HEADER) !== undefined;
  return c.redirect(isOfAccess ? "/cdn-cgi/access/logout" : PATH, 303);
}

function logSignIn(
  c: ConsoleContext,
  event: "admin_signed_in" | "admin_signed_out",
  { actor }: Caller,
): void {
  logEvent(event, { requestId: c.var.requestId, operator: actor, network: clientAddress(c) });
}

type SignIn = {
  readonly to: string;
  readonly operator?: string;
  readonly notice?: string;
  /** Why a field was refused. */
  readonly wrong?: { readonly operator?: string; readonly token?: string };
  readonly status: 200 | 400 | 401;
};

function signInPage(c: ConsoleContext, { to, operator, notice, wrong = {}, status }: SignIn) {
  return barePage(
    c,
    { title: "Sign in", status },
    <form method="post" action="/console/sign-in" class="panel">
      {notice !== undefined && <Notice kind="warn">{notice}</Notice>}
      <input type="hidden" name="to" value={to} />
      <Field
        name="operator"
        label="Your name"
        value={operator}
        hint="Shown in the audit log; not verified."
        problem={wrong.operator}
        attributes={{ maxlength: 64, autocomplete: "username", autofocus: wrong.token === undefined }}
      />
      <Field
        name="token"
        label="Admin token"
        type="password"
        problem={wrong.token}
        attributes={{
          required: true,
          autocomplete: "current-password",
          autofocus: wrong.token !== undefined,
        }}
      />
      <Submit tone="primary">Sign in</Submit>
    </form>,
  );
}
