/**
 * Middleware that admits requests with an identity that Cloudflare Access has proven, or with an admin token.
 * If neither is configured, every path under /admin is a 404.
 */
import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { timingSafeEqual } from "hono/utils/buffer";
import { clientAddress } from "hono-durable-limiter";
import * as v from "valibot";
import type { AppEnv } from "../../context.ts";
import { ApiError, invalidRequest, notFound } from "../../platform/errors.ts";
import { logEvent } from "../../platform/log.ts";
import { type AccessSettings, type AdminToken, foldLetters, settingsOf } from "../../platform/settings.ts";
import { bearerCredential } from "../../text/bearer.ts";
import { decodeHeader } from "../../text/text.ts";
import { nowSeconds } from "../../text/time.ts";
import { refuseAdminToken } from "../http/request-validation.ts";
import { shortText } from "../http/text-schemas.ts";
import { ASSERTION_HEADER, identityOf } from "./access-identity.ts";
import { refuseOtherSites } from "./own-origin.ts";
import { countFailure } from "./sign-in-limit.ts";

const CHALLENGE = 'Bearer realm="store-orders-admin"';

export type Caller = { readonly actor: string; readonly mayOnlyRead: boolean };

export const requireAdmin = createMiddleware<AppEnv>(async (c, next) => {
  const { access, tokens } = waysIn(c);
  const proven = await callerOfAccess(c, access);
  // Links are refused too: a link to a CSV starts a download, and tells its page whether a key exists.
  if (proven) refuseOtherSites(c);
  beginAs(c, proven ?? (await callerWithBearer(c, tokens)));
  await next();
});

/** Returns how operators sign in. Throws a 404 if no way is set, and a 500 if a setting is wrong. */
export function waysIn(c: Context<AppEnv>) {
  const { access, tokens } = settingsOf(c.env);
  if (access === "wrong") throw new Error("A setting of Cloudflare Access is wrong: see setting_wrong.");
  if (access === undefined && tokens.length === 0) throw notFound();
  return { access, tokens };
}

export function beginAs(c: Context<AppEnv>, { actor, mayOnlyRead }: Caller): void {
  c.set("authenticatedAtMs", Date.now());
  c.set("author", { requestId: c.var.requestId, actor, at: nowSeconds() });
  c.set("mayOnlyRead", mayOnlyRead);
}

/** Throws the 403 of a change, if the caller may only read. */
export function requireWriter({ mayOnlyRead }: { readonly mayOnlyRead?: boolean }): void {
  if (!mayOnlyRead) return;
  throw new ApiError("read_only", "You may read here, and change nothing.", {
    headers: { "WWW-Authenticate": `${CHALLENGE}, error="insufficient_scope"` },
  });
}

/**
 * Undefined without an assertion. An invalid assertion is refused even beside a valid token: otherwise the token
 * would hide who calls.
 */
export async function callerOfAccess(
  c: Context<AppEnv>,
  access: AccessSettings | undefined,
): Promise<Caller | undefined> {
  const assertion = c.req.header(ASSERTION_HEADER);
  if (access === undefined || assertion === undefined) return undefined;
  const identity = await identityOf(assertion, access);
  if (!identity.ok) {
    throw await refusal(c, "The identity from Cloudflare Access is not valid here.", identity.reason);
  }
  const { actor } = identity;
  return { actor, mayOnlyRead: access.writers?.includes(foldLetters(actor)) === false };
}

async function callerWithBearer(c: Context<AppEnv>, tokens: readonly AdminToken[]): Promise<Caller> {
  const token = await requireToken(c, tokens, bearerCredential(c.req.header("Authorization")));
  const name = decodeHeader(c.req.header("X-Operator") ?? "");
  if (name === undefined) throw invalidRequest("X-Operator: must be UTF-8, or as in UTF-8''Zo%C3%AB");
  return callerWith(c, token, operatorName(c, "X-Operator", name));
}

/** Throws the 401 if the credential is none of the tokens. */
export async function requireToken(
  c: Context<AppEnv>,
  tokens: readonly AdminToken[],
  credential: string | undefined,
): Promise<AdminToken> {
  const token = credential === undefined ? undefined : await tokenThatIs(credential, tokens);
  if (token !== undefined) return token;
  throw await refusal(
    c,
    "Missing or invalid admin token.",
    credential === undefined ? "missing" : "wrong token",
  );
}

/** Whoever has a token can type any name. A name from Access has no blanks, so the two differ. */
export function callerWith(c: Context<AppEnv>, { mayOnlyRead }: AdminToken, name: string | null): Caller {
  if (settingsOf(c.env).access === undefined) return { actor: name ?? "operator", mayOnlyRead };
  return { actor: name === null ? "admin token" : `admin token (${name})`, mayOnlyRead };
}

/** The audit log's name of an owner begins so, and that of no operator. */
export const OWNER_ACTOR = "owner (";

const NAME = v.pipe(
  shortText(64),
  v.check((text) => !text.toLowerCase().startsWith(OWNER_ACTOR), `must not begin with "${OWNER_ACTOR}"`),
);

/** Returns the name that an operator typed, or null for an empty name. Throws a 400 for a wrong name. */
export function operatorName(c: Context<AppEnv>, field: string, typed = ""): string | null {
  if (typed.trim() === "") return null;
  refuseAdminToken(typed, c.env);
  const { success, output, issues } = v.safeParse(NAME, typed);
  if (success) return output;
  throw invalidRequest(`${field}: ${issues[0].message}`);
}

async function tokenThatIs(
  credential: string,
  tokens: readonly AdminToken[],
): Promise<AdminToken | undefined> {
  for (const token of tokens) if (await timingSafeEqual(credential, token.secret)) return token;
  return undefined;
}

/** Returns a 401, or a 429 if the address has caused too many of them. */
async function refusal(c: Context<AppEnv>, message: string, reason: string): Promise<ApiError> {
  const tooMany = await countFailure(c);
  if (tooMany) return tooMany;
  const network = clientAddress(c);
  logEvent("admin_sign_in_failed", { requestId: c.var.requestId, network, reason });
  return new ApiError("unauthorized", message, {
    headers: { "WWW-Authenticate": CHALLENGE },
  });
}
