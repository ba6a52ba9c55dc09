/** Finds the record behind a key: the isolate's cache, then a D1 query that concurrent requests share. */
import { BatchedReads, type BatchRules } from "../batched-reads.ts";
import { type Bindings, settingsOf } from "../context.ts";
import { openDatabase } from "../db/database.ts";
import { findKeyRecordsByHash, markAsUsed } from "../db/key-record-repository.ts";
import { readNearest } from "../db/session.ts";
import { type Refusal, unavailable } from "../errors.ts";
import { SingleFlight } from "../single-flight.ts";
import { WaitingRequests } from "../waiting-requests.ts";
import { enforceIpRateLimit } from "./ip-rate-limit.ts";
import { MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE } from "./ip-rate-limit-rules.ts";
import { KeyCache } from "./key-cache.ts";
import { isUsable, type KeyRecord } from "./key-record.ts";
import { invalidKey } from "./unauthorized.ts";
import { UnusableKeys } from "./unusable-keys.ts";

/** The maximum wait for a record, counted from the beginning of its lookup. */
export const LOOKUP_TIMEOUT_MS = 3_000;

/**
 * Queries for unknown keys (ADR-24), for each copy of D1. Two at a time, so that one that hangs does not stop the others. The
 * two read as many keys as wait before the per-IP limit applies. D1 takes 1 ms for 1,000 keys.
 */
export const UNKNOWN_KEY_QUERIES: BatchRules = {
  maxQueries: 2,
  maxKeysPerQuery: 1_000,
  maxSlotMs: 1_000,
  timeoutMs: LOOKUP_TIMEOUT_MS,
};

/** While this many requests wait for a lookup in the isolate, the per-IP limit applies to further unknown keys. */
export const MAX_WAITING_LOOKUPS = 2_000;

/** While this many wait, only keys that this isolate has used before are looked up: the others are answered 503. */
export const MAX_WAITING_LOOKUPS_OF_NEW_KEYS = 2_500;

/** While this many wait, all further ones are answered 503. A waiting request has up to 22 kB with the longest URL, 6 of them garbage. */
export const MAX_WAITING_LOOKUPS_IN_ALL = 3_000;

/** While this many wait for one key, further requests with that key are answered 503, so that one key cannot use up the others. */
export const MAX_WAITING_LOOKUPS_PER_KEY = 1_000;

/** A lookup joins at most one that began before it, and then has one of its own time. */
const MAX_WAIT_MS = 2 * LOOKUP_TIMEOUT_MS;

/** The request that a lookup is made for. */
export type LookupRequest = {
  readonly hash: string;
  readonly env: Bindings;
  readonly headers: Headers;
  readonly waitUntil: (promise: Promise<unknown>) => void;
};

/** Which copy of D1 is read: the nearest one, or the primary, which has every change. */
type Copy = "nearest" | "primary";

/** Not looked up: too many queries for a key that is not usable. */
const NO_QUERY_LEFT = Symbol("no query left");

export class KeyLookup {
  readonly #cache = new KeyCache();
  readonly #unusable = new UnusableKeys();
  readonly #lookups = new SingleFlight<KeyRecord | undefined | typeof NO_QUERY_LEFT>(LOOKUP_TIMEOUT_MS);
  readonly #waiting = new WaitingRequests({
    maxInAll: MAX_WAITING_LOOKUPS_IN_ALL,
    maxPerKey: MAX_WAITING_LOOKUPS_PER_KEY,
    maxWaitMs: MAX_WAIT_MS,
  });
  readonly #unknown = {
    nearest: new BatchedReads<KeyRecord>(UNKNOWN_KEY_QUERIES),
    primary: new BatchedReads<KeyRecord>(UNKNOWN_KEY_QUERIES),
  };

  /** The key's record, cached for up to 60 s. Throws the 401, the 429 of the per-IP limit, or a 503. */
  async find(request: LookupRequest): Promise<KeyRecord> {
    const nowMs = Date.now();
    const cached = this.#cache.get(request.hash, nowMs);
    if (cached && isUsable(cached, nowMs)) return cached;
    // A replica from before the key became unusable would admit it, which would reset the bound on its queries.
    const isNearest = settingsOf(request.env).readsFromReplicas && !this.#unusable.has(request.hash);
    if (!this.#cache.has(request.hash) && this.#waiting.count() >= MAX_WAITING_LOOKUPS) {
      if (!this.#isKnown(request.hash)) await enforceLimitOf(request);
      if (this.#waiting.count() >= MAX_WAITING_LOOKUPS_OF_NEW_KEYS) {
        throw unavailable("Too many API keys are being looked up. Please try again.", undefined);
      }
    }
    return this.#lookUp(request, isNearest ? "nearest" : "primary", 0);
  }

  /**
   * The key's record as D1 has it after this call began, or at least as new as `minVersion`. One below `minVersion`
   * proves that D1 was restored to an earlier time.
   */
  reload(request: LookupRequest, minVersion = Number.POSITIVE_INFINITY): Promise<KeyRecord> {
    return this.#lookUp(request, "primary", minVersion);
  }

  /** Whether this isolate has found the key before. */
  #isKnown(hash: string): boolean {
    return this.#cache.has(hash) || this.#unusable.has(hash);
  }

  /**
   * A key can have several secrets. Those that are not usable share places, and take none of those that are. The first request with
   * each has a place of its own, because its secret may be usable again.
   */
  #waiterOf(hash: string): string {
    const usable = this.#cache.idOf(hash);
    if (usable !== undefined) return usable;
    const unusable = this.#unusable.idOf(hash);
    return unusable === undefined || !this.#waiting.has(hash) ? hash : `unusable ${unusable}`;
  }

  #lookUp(request: LookupRequest, copy: Copy, minVersion: number): Promise<KeyRecord> {
    return this.#waiting.run(this.#waiterOf(request.hash), async () => {
      // A lookup that began before this request may admit it, if it is new enough. It may never refuse it.
      const record = await this.#lookups.runAfterCall(
        `${copy} ${request.hash}`,
        () => this.#load(request, copy),
        request.waitUntil,
        (earlier) => isUsableNow(earlier) && earlier.version >= minVersion,
      );
      if (isUsableNow(record)) return record;
      throw invalidKey(refusalOf(record));
    });
  }

  async #load(request: LookupRequest, copy: Copy): Promise<KeyRecord | undefined | typeof NO_QUERY_LEFT> {
    const requestedAtMs = Date.now();
    if (!this.#unusable.takeQuery(request.hash, requestedAtMs)) return NO_QUERY_LEFT;
    const record = await this.#readUsed(request, copy);
    this.#remember(request.hash, record, requestedAtMs);
    return record;
  }

  /** The record. A usable key is marked as used in D1 before its limiter is called (ADR-17). */
  async #readUsed(request: LookupRequest, copy: Copy): Promise<KeyRecord | undefined> {
    const record = await this.#readUsable(request, copy);
    if (!isUsableNow(record) || record.isUsed) return record;
    const version = await markAsUsed(openDatabase(request.env.DB), record.id, Math.floor(Date.now() / 1000));
    return version === record.version ? { ...record, isUsed: true } : this.#read(request, "primary");
  }

  /** A replica may admit a key but not refuse it: it may not have the key yet, or a change that enables it (ADR-19). */
  async #readUsable(request: LookupRequest, copy: Copy): Promise<KeyRecord | undefined> {
    const record = await this.#read(request, copy);
    return copy === "primary" || isUsableNow(record) ? record : this.#read(request, "primary");
  }

  /** The known keys of an isolate are few, and no client can add to them without a key. So they do not wait for the others. */
  async #read({ hash, env, waitUntil }: LookupRequest, copy: Copy): Promise<KeyRecord | undefined> {
    const query = (hashes: readonly string[]) => {
      if (copy === "primary") return findKeyRecordsByHash(openDatabase(env.DB), hashes);
      return readNearest(env, undefined, ({ db }) => findKeyRecordsByHash(db, hashes));
    };
    if (this.#isKnown(hash)) return (await query([hash])).get(hash);
    return this.#unknown[copy].read(hash, query, waitUntil);
  }

  /** Only usable keys are cached: a refusal must end with its cause, and a guessed key must use no memory. */
  #remember(hash: string, record: KeyRecord | undefined, requestedAtMs: number): void {
    if (record && isUsable(record, Date.now())) {
      this.#cache.set(hash, record, requestedAtMs);
      this.#unusable.delete(hash);
      return;
    }
    this.#cache.delete(hash);
    if (record) this.#unusable.add(hash, record.id, requestedAtMs);
  }
}

/** Throws the 429 of the per-IP limit. */
async function enforceLimitOf({ env, headers }: LookupRequest): Promise<void> {
  const limit = env.UNKNOWN_KEY_IP_RATE_LIMIT;
  const tooMany = await enforceIpRateLimit(limit, MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE, headers);
  if (tooMany) throw tooMany;
}

function isUsableNow(record: KeyRecord | undefined | typeof NO_QUERY_LEFT): record is KeyRecord {
  return typeof record === "object" && isUsable(record, Date.now());
}

function refusalOf(record: KeyRecord | undefined | typeof NO_QUERY_LEFT): Refusal {
  if (record === NO_QUERY_LEFT) return { reason: "unusable" };
  if (!record) return { reason: "unknown" };
  return { reason: record.status === "active" ? "expired" : record.status, keyId: record.id };
}
