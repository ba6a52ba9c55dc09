/** Middleware: a request becomes a key record, or 401. Which of the causes it was is not told. */
import { createMiddleware } from "hono/factory";
import { type Database, openDatabase } from "../db/database.ts";
import type { Bindings } from "../env.ts";
import { ApiError } from "../errors.ts";
import { passFence, UNKNOWN_KEYS_PER_MINUTE } from "../fence.ts";
import type { KeyCache } from "./key-cache.ts";
import { isWellFormedKey } from "./key-format.ts";
import { isUsable, type KeyRecord } from "./key-record.ts";
import { findKeyRecord, hashKey } from "./key-records.ts";
import { Lookups } from "./lookups.ts";

export type AuthenticatedEnv = {
  Bindings: Bindings;
  Variables: {
    key: KeyRecord;
    /** Reads the key's record anew, past every cache, and makes it the request's; throws the 401 if it no longer opens. */
    reloadKey: () => Promise<KeyRecord>;
  };
};

const CHALLENGE = 'Bearer realm="store-orders"';

/** At most one D1 query, none when the isolate knows the key or the credential cannot be one. */
export function authenticate(cache: KeyCache) {
  const lookups = new Lookups();
  return createMiddleware<AuthenticatedEnv>(async (c, next) => {
    const credential = bearerCredential(c.req.header("Authorization"));
    if (credential === undefined) throw unauthorized(CHALLENGE);
    if (!isWellFormedKey(credential)) throw unauthorized(`${CHALLENGE}, error="invalid_token"`);

    const hash = await hashKey(credential);
    const reloadKey = async () => {
      const record = await readUsable(cache, openDatabase(c.env.DB), hash);
      c.set("key", record);
      return record;
    };
    c.set("reloadKey", reloadKey);
    const lookUp = async () => {
      if (!cache.hasMet(hash)) {
        await passFence(c.env.UNKNOWN_KEY_FENCE, UNKNOWN_KEYS_PER_MINUTE, c.req.raw.headers, Date.now());
      }
      await reloadKey();
    };

    let known = usable(cache, hash);
    const underWay = known ? undefined : lookups.underWay(hash);
    if (underWay) {
      await underWay;
      known = usable(cache, hash);
    }
    if (known) c.set("key", known);
    else await lookups.run(hash, lookUp, (lookup) => c.executionCtx.waitUntil(lookup));
    await next();
  });
}

function usable(cache: KeyCache, hash: string): KeyRecord | undefined {
  const nowMs = Date.now();
  const known = cache.get(hash, nowMs);
  return known && isUsable(known, nowMs) ? known : undefined;
}

/** Only keys that open are remembered: a refusal must not outlive its cause, and a guess must leave nothing behind. */
async function readUsable(cache: KeyCache, db: Database, hash: string): Promise<KeyRecord> {
  const askedAtMs = Date.now();
  const record = await findKeyRecord(db, hash);
  if (!record || !isUsable(record, Date.now())) {
    cache.delete(hash);
    throw unauthorized(`${CHALLENGE}, error="invalid_token"`);
  }
  cache.set(hash, record, askedAtMs);
  return record;
}

/** The token of `Authorization: Bearer <token>`; undefined where there is no such credential. RFC 9110: any case. */
function bearerCredential(header: string | undefined): string | undefined {
  return header?.match(/^Bearer +(\S.*)$/i)?.[1];
}

function unauthorized(challenge: string): ApiError {
  return new ApiError("unauthorized", "Missing or invalid API key.", {
    headers: { "WWW-Authenticate": challenge },
  });
}
