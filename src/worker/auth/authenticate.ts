/** Middleware: finds the key record of a request, or answers 401. */
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../context.ts";
import { bearerCredential } from "./bearer-credential.ts";
import { isWellFormedKey } from "./key-format.ts";
import { hashKey } from "./key-hash.ts";
import type { KeyLookup } from "./key-lookup.ts";
import { invalidKey, missingKey } from "./unauthorized.ts";

/** One D1 query, none when the isolate has the key cached or the credential is malformed. One write for a key's first use. */
export function authenticate(keys: KeyLookup) {
  return createMiddleware<AppEnv>(async (c, next) => {
    const credential = bearerCredential(c.req.header("Authorization"));
    if (credential === undefined) throw missingKey();
    if (!isWellFormedKey(credential)) throw invalidKey({ reason: "malformed" });

    const lookup = {
      hash: await hashKey(credential),
      env: c.env,
      headers: c.req.raw.headers,
      waitUntil: (promise: Promise<unknown>) => c.executionCtx.waitUntil(promise),
    };
    c.set("keyLookup", lookup);
    c.set("key", await keys.find(lookup));
    c.set("authenticatedAtMs", Date.now());
    await next();
  });
}
