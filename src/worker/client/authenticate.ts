/** Reads the key of a request, or answers 401. The key's limiter decides whether the key is valid. */
import { createMiddleware } from "hono/factory";
import type { AppEnv, Bindings, Key } from "../context.ts";
import { parseKey } from "../key/key.ts";
import { hashKey, type MacKeys } from "../key/mac.ts";
import { ApiError, DOCS_LINK, type Refusal } from "../platform/errors.ts";
import { bearerCredential } from "../text/bearer.ts";

const CHALLENGE = 'Bearer realm="store-orders"';

/** Does no I/O after the isolate's first request. */
export function authenticate(macKeys: MacKeys) {
  return createMiddleware<AppEnv>(async (c, next) => {
    const credential = bearerCredential(c.req.header("Authorization"));
    // RFC 6750, 3.1: without a credential the challenge carries no error code.
    if (credential === undefined) throw unauthorized(CHALLENGE, { reason: "missing" });
    c.set("key", await verifiedKey(macKeys, c.env, credential));
    c.set("authenticatedAtMs", Date.now());
    await next();
  });
}

/** Throws a 401 if the service did not make the key. */
async function verifiedKey(macKeys: MacKeys, env: Bindings, credential: string): Promise<Key> {
  const key = parseKey(credential);
  if (key === undefined) throw invalidKey({ reason: "malformed" });
  if (!(await macKeys.verify(env, key))) throw invalidKey({ reason: "invented" });
  return { id: key.id, location: key.location, hash: await hashKey(credential) };
}

/** The 401 is the same for all reasons (ADR-1). Only the log has the reason. */
export function invalidKey(refusal: Refusal): ApiError {
  return unauthorized(`${CHALLENGE}, error="invalid_token"`, refusal);
}

function unauthorized(challenge: string, refusal: Refusal): ApiError {
  return new ApiError("unauthorized", "Missing or invalid API key.", {
    headers: { "WWW-Authenticate": challenge, Link: DOCS_LINK },
    refusal,
  });
}
