/** Middleware: reads the key of a request, or answers 401. Whether the key is valid, its limiter decides. */
import { createMiddleware } from "hono/factory";
import type { AppEnv, Bindings, Key } from "../context.ts";
import { ApiError, DOCS_LINK, type Refusal } from "../errors.ts";
import { parseKey } from "./key.ts";
import { hashKey, type MacKeys } from "./mac.ts";

/** RFC 9110: the scheme has any case. */
const CREDENTIAL = /^Bearer +(\S.*)$/i;
const CHALLENGE = 'Bearer realm="store-orders"';

/** No I/O after the isolate's first request. */
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

/** Throws the 401 if the service has not made the key. */
async function verifiedKey(macKeys: MacKeys, env: Bindings, credential: string): Promise<Key> {
  const key = parseKey(credential);
  if (key === undefined) throw invalidKey({ reason: "malformed" });
  if (!(await macKeys.verify(env, key))) throw invalidKey({ reason: "invented" });
  return { id: key.id, location: key.location, hash: await hashKey(credential) };
}

/** The token of `Authorization: Bearer <token>`; undefined without such a credential. */
export function bearerCredential(authorization: string | undefined): string | undefined {
  return authorization?.match(CREDENTIAL)?.[1];
}

/** It is the same for all causes (ADR-1), which only the log tells apart. */
export function invalidKey(refusal: Refusal): ApiError {
  return unauthorized(`${CHALLENGE}, error="invalid_token"`, refusal);
}

function unauthorized(challenge: string, refusal: Refusal): ApiError {
  return new ApiError("unauthorized", "Missing or invalid API key.", {
    headers: { "WWW-Authenticate": challenge, Link: DOCS_LINK },
    refusal,
  });
}
