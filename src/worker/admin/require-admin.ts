/** Middleware: only the holder of the operator's token comes through. Without a proper token configured there is no operator's surface at all. */
import { createMiddleware } from "hono/factory";
import { enforceIpRateLimit } from "../auth/ip-rate-limit.ts";
import { MAX_ADMIN_SIGN_IN_FAILURES_PER_MINUTE } from "../auth/ip-rate-limit-rules.ts";
import type { AppEnv } from "../context.ts";
import { ApiError } from "../errors.ts";
import { logError } from "../log.ts";
import { isUsableToken, MIN_ADMIN_TOKEN_CHARS } from "./admin-token.ts";

export const requireAdmin = createMiddleware<AppEnv>(async (c, next) => {
  const token = c.env.ADMIN_TOKEN ?? "";
  if (!isUsableToken(token)) {
    if (token !== "")
      logError("admin_token_unusable", new Error(`needs ${MIN_ADMIN_TOKEN_CHARS} characters and no blanks`));
    throw new ApiError("not_found", "The requested resource could not be found.");
  }
  const given = c.req.header("Authorization")?.match(/^Bearer +(\S+)$/i)?.[1];
  if (given === undefined || !(await areEqual(given, token))) {
    const tooMany = await enforceIpRateLimit(
      c.env.ADMIN_SIGN_IN_IP_RATE_LIMIT,
      MAX_ADMIN_SIGN_IN_FAILURES_PER_MINUTE,
      c.req.raw.headers,
    );
    if (tooMany) throw tooMany;
    throw new ApiError("unauthorized", "Missing or invalid operator's token.", {
      headers: { "WWW-Authenticate": 'Bearer realm="store-orders-admin"' },
    });
  }
  c.set("author", {
    requestId: c.var.requestId,
    actor: actorOf(c.req.header("X-Operator")),
    at: Math.floor(Date.now() / 1000),
  });
  await next();
});

/** Digests have one length, so that the comparison takes the same time whatever was given. */
async function areEqual(a: string, b: string): Promise<boolean> {
  const encoder = new TextEncoder();
  const digests = await Promise.all(
    [a, b].map((text) => crypto.subtle.digest("SHA-256", encoder.encode(text))),
  );
  const [first, second] = digests;
  return first !== undefined && second !== undefined && crypto.subtle.timingSafeEqual(first, second);
}

/** The token is shared, so this is a name for people to go by, not proof. */
function actorOf(header: string | undefined): string {
  return header !== undefined && /^[\w.@ -]{1,64}$/.test(header) ? header : "operator";
}
