/**
 * Middleware: admits requests with an identity that Cloudflare Access has proven, or with the admin token. With neither of
 * them configured, every path under /admin is a 404.
 */
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { timingSafeEqual } from "hono/utils/buffer";
import { clientAddress } from "../../limiter/index.ts";
import { bearerCredential } from "../auth/authenticate.ts";
import { hasKey } from "../auth/key.ts";
import { type AppEnv, settingsOf } from "../context.ts";
import { ApiError, notFound } from "../errors.ts";
import { logError, logEvent } from "../log.ts";
import { urlOf } from "../request-url.ts";
import { nowSeconds } from "../time.ts";
import { type AccessSettings, ASSERTION_HEADER, identityOf } from "./access-identity.ts";
import { ADMIN_TOKEN_RULE, hasAdminToken, isUsableToken } from "./admin-token.ts";
import { countFailure } from "./sign-in-limit.ts";

export const requireAdmin = createMiddleware<AppEnv>(async (c, next) => {
  const { access, token } = waysIn(c);
  const assertion = c.req.header(ASSERTION_HEADER);
  const actor =
    access !== undefined && assertion !== undefined
      ? await callerProvenByAccess(c, assertion, access)
      : await callerWithToken(c, token);
  beginAs(c, actor);
  await next();
});

/** How operators are recognised here. Throws the 404 if there is no way. */
export function waysIn(c: Context<AppEnv>) {
  const { access } = settingsOf(c.env);
  const token = usableToken(c.env.ADMIN_TOKEN ?? "");
  if (access === undefined && token === undefined) throw notFound();
  return { access, token };
}

export function beginAs(c: Context<AppEnv>, actor: string): void {
  c.set("authenticatedAtMs", Date.now());
  c.set("author", { requestId: c.var.requestId, actor, at: nowSeconds() });
}

function usableToken(token: string): string | undefined {
  if (isUsableToken(token)) return token;
  if (token !== "") logError("admin_token_unusable", new Error(`needs ${ADMIN_TOKEN_RULE}`));
  return undefined;
}

async function callerProvenByAccess(
  c: Context<AppEnv>,
  assertion: string,
  access: AccessSettings,
): Promise<string> {
  const actor = await provenActor(c, assertion, access);
  if (isFromAnotherSite(c)) {
    const message = "A page of another site sent this. Use the console, or type the address.";
    throw await refusal(c, message, "sent by a page of another site");
  }
  return actor;
}

/** An assertion that is not valid is refused even beside a valid token: otherwise the token would hide who is calling. */
export async function provenActor(
  c: Context<AppEnv>,
  assertion: string,
  access: AccessSettings,
): Promise<string> {
  const identity = await identityOf(assertion, access);
  if (identity.ok) return identity.actor;
  throw await refusal(c, "The identity from Cloudflare Access is not valid here.", identity.reason);
}

/**
 * A browser attaches the cookie of Access to requests of any site. Links are no exception: a link to a CSV starts a download, and
 * shows the page that opened it whether the operator is signed in and whether the key exists.
 */
function isFromAnotherSite(c: Context<AppEnv>): boolean {
  const origin = c.req.header("Origin");
  if (origin !== undefined && origin !== urlOf(c.req.raw).origin) return true;
  const site = c.req.header("Sec-Fetch-Site");
  return site !== undefined && site !== "same-origin" && site !== "none";
}

async function callerWithToken(c: Context<AppEnv>, token: string | undefined): Promise<string> {
  const credential = bearerCredential(c.req.header("Authorization"));
  return actorWithToken(c, token, credential, c.req.header("X-Operator") ?? "");
}

/** Throws the 401 if the credential is not the token. */
export async function actorWithToken(
  c: Context<AppEnv>,
  token: string | undefined,
  credential: string | undefined,
  operator: string,
): Promise<string> {
  if (token === undefined || credential === undefined || !(await timingSafeEqual(credential, token))) {
    const reason = credential === undefined ? "missing" : "wrong token";
    throw await refusal(c, "Missing or invalid admin token.", reason);
  }
  const name = nameIn(operator, token);
  if (settingsOf(c.env).access === undefined) return name ?? "operator";
  // A name that Access has proven has no blanks, so the audit log shows the difference.
  return name === undefined ? "admin token" : `admin token (${name})`;
}

/** A 401, or a 429 if the address has sent too many of them. */
async function refusal(c: Context<AppEnv>, message: string, reason: string): Promise<ApiError> {
  const tooMany = await countFailure(c);
  if (tooMany) return tooMany;
  const network = clientAddress(c);
  logEvent("admin_sign_in_failed", { requestId: c.var.requestId, network, reason });
  return new ApiError("unauthorized", message, {
    headers: { "WWW-Authenticate": 'Bearer realm="store-orders-admin"' },
  });
}

/** The name proves nothing: who has the token can send any name. The audit log shows the name, so a secret is not taken as a name. */
function nameIn(header: string, token: string): string | undefined {
  const isSecret = hasKey(header) || hasAdminToken(header, token);
  return /^[\w.@ -]{1,64}$/.test(header) && !isSecret ? header : undefined;
}
