/** Middleware: a request becomes a key record, or 401. */
import { createMiddleware } from "hono/factory";
import type { AppEnv } from "../context.ts";
import { isWellFormedKey } from "./key-format.ts";
import { hashKey } from "./key-hash.ts";
import type { KeyLookup } from "./key-lookup.ts";
import { invalidKey, missingKey } from "./unauthorized.ts";

/** At most one D1 query. None when the isolate has the key cached, or the credential is malformed. */
export function authenticate(keys: KeyLookup) {
  return createMiddleware<AppEnv>(async (c, next) => {
    const credential = bearerCredential(c.req.header("Authorization"));
    if (credential === undefined) throw missingKey();
    if (!isWellFormedKey(credential)) throw invalidKey();

    const hash = await hashKey(credential);
    c.set("keyHash", hash);
    c.set("key", await keys.find(hash, c.env, c.req.raw.headers, c.executionCtx));
    await next();
  });
}

/** The token of `Authorization: Bearer <token>`; undefined without such a credential. RFC 9110: the scheme has any case. */
function bearerCredential(header: string | undefined): string | undefined {
  return header?.match(/^Bearer +(\S.*)$/i)?.[1];
}
