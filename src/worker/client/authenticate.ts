/** Reads the key of a request, or answers 401. The key's limiter decides whether the key is valid. */
import { createMiddleware } from "hono/factory";
import type { AppEnv, Bindings, Key } from "../context.ts";
import { parseKey } from "../key/key.ts";
import { hashKey, type MacKeys } from "../key/mac.ts";
import { ApiError, type Refusal } from "../platform/errors.ts";
import { bearerCredential } from "../text/bearer.ts";

/** RFC 6750, 3: also on a 403 of a key whose rights do not reach. */
export const CHALLENGE = 'Bearer realm="store-orders"';

/** Does no I/O after the isolate's first request. */
export function authenticate(macKeys: MacKeys) {
  return createMiddleware<AppEnv>(async (c, next) => {
    const credential = bearerCredential(c.req.header("Authorization"));
    if (credential === undefined) throw missingKey();
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

/** RFC 6750, 3.1: without a credential the challenge carries no error code. */
function missingKey(): ApiError {
  const message = "The API key is missing. Send the header Authorization: Bearer KEY, where KEY is your key.";
  return unauthorized(message, CHALLENGE, { reason: "missing" });
}

/** The 401 is the same for every wrong credential (ADR-1). Only the log has the reason. */
export function invalidKey(refusal: Refusal): ApiError {
  return unauthorized("The API key is invalid.", `${CHALLENGE}, error="invalid_token"`, refusal);
}

function unauthorized(message: string, challenge: string, refusal: Refusal): ApiError {
  return new ApiError("unauthorized", message, { headers: { "WWW-Authenticate": challenge }, refusal });
}
