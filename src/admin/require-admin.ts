/** Middleware: only the holder of the operator's token comes through. Without a proper token configured there is no operator's surface at all. */
import { createMiddleware } from "hono/factory";
import type { Bindings } from "../env.ts";
import { ApiError } from "../errors.ts";
import { ADMIN_FAILURES_PER_MINUTE, passFence } from "../fence.ts";
import { logError } from "../log.ts";
import type { Author } from "./audit-store.ts";
import { isUsableToken, SHORTEST_ADMIN_TOKEN } from "./operator-token.ts";

export type AdminEnv = {
  Bindings: Bindings;
  Variables: { requestId: string; author: Author };
};

export const requireAdmin = createMiddleware<AdminEnv>(async (c, next) => {
  const token = c.env.ADMIN_TOKEN ?? "";
  if (!isUsableToken(token)) {
    if (token !== "")
      logError("admin_token_unusable", new Error(`needs ${SHORTEST_ADMIN_TOKEN} characters and no blanks`));
    throw new ApiError("not_found", "The requested resource could not be found.");
  }
  const given = c.req.header("Authorization")?.match(/^Bearer +(\S+)$/i)?.[1];
  if (given === undefined || !(await areEqual(given, token))) {
    await passFence(c.env.ADMIN_FENCE, ADMIN_FAILURES_PER_MINUTE, c.req.raw.headers, Date.now());
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
