/** Finds the record behind a key: the isolate's cache, then a D1 query that concurrent requests share. */
import { type Bindings, settingsOf } from "../context.ts";
import { type Database, openDatabase } from "../db/database.ts";
import { findKeyRecordByHash, markAsUsed } from "../db/key-record-repository.ts";
import { readNearest } from "../db/session.ts";
import type { ApiError, Refusal } from "../errors.ts";
import { SingleFlight } from "../single-flight.ts";
import { enforceIpRateLimit, networkOf } from "./ip-rate-limit.ts";
import { MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE } from "./ip-rate-limit-rules.ts";
import { KeyCache } from "./key-cache.ts";
import { isUsable, type KeyRecord } from "./key-record.ts";
import { invalidKey } from "./unauthorized.ts";
import { UnusableKeys } from "./unusable-keys.ts";

/** The maximum wait for a query, counted from its beginning. */
export const LOOKUP_TIMEOUT_MS = 3_000;

/** The request that a lookup is made for. */
export type LookupRequest = {
  readonly hash: string;
  readonly env: Bindings;
  readonly headers: Headers;
  readonly waitUntil: (promise: Promise<unknown>) => void;
};

/** Which copy of D1 is read: the nearest one, or the primary, which has every change. */
type Copy = "nearest" | "primary";

type Lookup =
  | { readonly kind: "read"; readonly record: KeyRecord | undefined }
  /** Not looked up: too many unknown keys from this address, or too many queries for a key that is not usable. */
  | { readonly kind: "refused"; readonly error: ApiError; readonly network?: string };

export class KeyLookup {
  readonly #cache = new KeyCache();
  readonly #unusable = new UnusableKeys();
  readonly #lookups = new SingleFlight<Lookup>(LOOKUP_TIMEOUT_MS);

  /** The key's record, cached for up to 60 s. Throws the 401, the 429 of the per-IP limit, or a 503. */
  async find(request: LookupRequest): Promise<KeyRecord> {
    const nowMs = Date.now();
    const cached = this.#cache.get(request.hash, nowMs);
    if (cached && isUsable(cached, nowMs)) return cached;
    // A replica from before the key became unusable would admit it, which would reset the bound on its queries.
    const isNearest = settingsOf(request.env).readsFromReplicas && !this.#unusable.has(request.hash);
    return this.#lookUp(request, isNearest ? "nearest" : "primary", 0);
  }

  /**
   * The key's record as D1 has it after this call began, or at least as new as `minVersion`. One below `minVersion`
   * proves that D1 was restored to an earlier time.
   */
  reload(request: LookupRequest, minVersion = Number.POSITIVE_INFINITY): Promise<KeyRecord> {
    return this.#lookUp(request, "primary", minVersion);
  }

  /** A lookup that began before this request may admit it, if it is new enough. It may never refuse it. */
  async #lookUp(request: LookupRequest, copy: Copy, minVersion: number): Promise<KeyRecord> {
    const own = networkOf(request.headers);
    const share = () =>
      this.#lookups.run(`${copy} ${request.hash}`, () => this.#load(request, copy), request.waitUntil);
    let { value, isJoined } = await share();
    const isEnough = value.kind === "read" && isUsableNow(value.record) && value.record.version >= minVersion;
    if (isJoined && !isEnough) ({ value, isJoined } = await share());
    // The per-IP limit refuses an address, and a request that joined may have come from another one.
    while (isJoined && value.kind === "refused" && (value.network ?? own) !== own) {
      ({ value, isJoined } = await share());
    }
    if (value.kind === "refused") throw value.error;
    if (isUsableNow(value.record)) return value.record;
    throw invalidKey(refusalOf(value.record));
  }

  async #load({ hash, env, headers }: LookupRequest, copy: Copy): Promise<Lookup> {
    const requestedAtMs = Date.now();
    if (!this.#unusable.takeQuery(hash, requestedAtMs))
      return { kind: "refused", error: invalidKey({ reason: "unusable" }) };
    if (!this.#cache.has(hash) && !this.#unusable.has(hash)) {
      const refusal = await enforceIpRateLimit(
        env.UNKNOWN_KEY_IP_RATE_LIMIT,
        MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE,
        headers,
      );
      if (refusal) return { kind: "refused", error: refusal, network: networkOf(headers) };
    }
    const record = await findRecord(env, hash, copy);
    this.#remember(hash, record, requestedAtMs);
    return { kind: "read", record };
  }

  /** Only usable keys are cached: a refusal must end with its cause, and a guessed key must use no memory. */
  #remember(hash: string, record: KeyRecord | undefined, requestedAtMs: number): void {
    if (isUsableNow(record)) {
      this.#cache.set(hash, record, requestedAtMs);
      this.#unusable.delete(hash);
      return;
    }
    this.#cache.delete(hash);
    if (record) this.#unusable.add(hash, requestedAtMs);
  }
}

function isUsableNow(record: KeyRecord | undefined): record is KeyRecord {
  return record !== undefined && isUsable(record, Date.now());
}

function refusalOf(record: KeyRecord | undefined): Refusal {
  if (!record) return { reason: "unknown" };
  return { reason: record.status === "active" ? "expired" : record.status, keyId: record.id };
}

/** A replica may admit a key but not refuse it: it may not have the key yet, or a change that enables it (ADR-19). */
async function findRecord(env: Bindings, hash: string, copy: Copy): Promise<KeyRecord | undefined> {
  if (copy === "nearest") {
    const record = await readNearest(env, undefined, ({ db }) => findUsedRecord(db, hash));
    if (isUsableNow(record)) return record;
  }
  return findUsedRecord(openDatabase(env.DB), hash);
}

/** The record. A usable key is marked as used in D1 before its limiter is called (ADR-17). */
async function findUsedRecord(db: Database, hash: string): Promise<KeyRecord | undefined> {
  const record = await findKeyRecordByHash(db, hash);
  const nowMs = Date.now();
  if (!record || record.isUsed || !isUsable(record, nowMs)) return record;
  const version = await markAsUsed(db, record.id, Math.floor(nowMs / 1000));
  return version === record.version ? { ...record, isUsed: true } : findKeyRecordByHash(db, hash);
}
