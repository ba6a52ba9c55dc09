/** Middleware: admits requests with the admin token. Without a usable configured token every path under /admin is a 404. */
import { createMiddleware } from "hono/factory";
import { bearerCredential } from "../auth/bearer-credential.ts";
import { enforceIpRateLimit, networkOf } from "../auth/ip-rate-limit.ts";
import { MAX_ADMIN_SIGN_IN_FAILURES_PER_MINUTE } from "../auth/ip-rate-limit-rules.ts";
import type { AppEnv } from "../context.ts";
import { ApiError, notFound } from "../errors.ts";
import { logError, logEvent } from "../log.ts";
import { nowSeconds } from "../time.ts";
import { ADMIN_TOKEN_RULE, isUsableToken } from "./admin-token.ts";

export const requireAdmin = createMiddleware<AppEnv>(async (c, next) => {
  const token = c.env.ADMIN_TOKEN ?? "";
  if (!isUsableToken(token)) {
    if (token !== "") logError("admin_token_unusable", new Error(`needs ${ADMIN_TOKEN_RULE}`));
    throw notFound();
  }
  const credential = bearerCredential(c.req.header("Authorization"));
  if (credential === undefined || !(await areEqual(credential, token))) {
    const tooMany = await enforceIpRateLimit(
      c.env.ADMIN_SIGN_IN_IP_RATE_LIMIT,
      MAX_ADMIN_SIGN_IN_FAILURES_PER_MINUTE,
      c.req.raw.headers,
    );
    if (tooMany) throw tooMany;
    logEvent("admin_sign_in_failed", { requestId: c.var.requestId, network: networkOf(c.req.raw.headers) });
    throw new ApiError("unauthorized", "Missing or invalid admin token.", {
      headers: { "WWW-Authenticate": 'Bearer realm="store-orders-admin"' },
    });
  }
  c.set("author", {
    requestId: c.var.requestId,
    actor: actorOf(c.req.header("X-Operator")),
    at: nowSeconds(),
  });
  await next();
});

/** Digests have the same length, so the comparison takes the same time for every credential. */
async function areEqual(a: string, b: string): Promise<boolean> {
  const encoder = new TextEncoder();
  const digests = await Promise.all(
    [a, b].map((text) => crypto.subtle.digest("SHA-256", encoder.encode(text))),
  );
  const [first, second] = digests;
  return first !== undefined && second !== undefined && crypto.subtle.timingSafeEqual(first, second);
}

/** All operators share the token, so this name informs people and proves nothing. */
function actorOf(header: string | undefined): string {
  return header !== undefined && /^[\w.@ -]{1,64}$/.test(header) ? header : "operator";
}
