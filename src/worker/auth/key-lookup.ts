/** Finds the record behind a key: the isolate's cache, then one D1 query that concurrent requests share. */
import type { Bindings } from "../context.ts";
import { openDatabase } from "../db/database.ts";
import { findKeyRecord } from "../db/key-record-repository.ts";
import { enforceIpRateLimit } from "./ip-rate-limit.ts";
import { MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE } from "./ip-rate-limit-rules.ts";
import { KeyCache } from "./key-cache.ts";
import { isUsable, type KeyRecord } from "./key-record.ts";
import { SingleFlight } from "./single-flight.ts";
import { invalidKey } from "./unauthorized.ts";

export class KeyLookup {
  readonly #cache = new KeyCache();
  readonly #singleFlight = new SingleFlight();

  /** The key's record, from the cache if possible. Throws the 401, or the 429 of the per-IP limit. */
  async find(
    hash: string,
    env: Bindings,
    headers: Headers,
    ctx: Pick<ExecutionContext, "waitUntil">,
  ): Promise<KeyRecord> {
    const cached = this.#usable(hash);
    if (cached) return cached;

    const inFlight = this.#singleFlight.wait(hash);
    if (inFlight) {
      await inFlight;
      const shared = this.#usable(hash);
      if (shared) return shared;
    }
    const lookUp = async () => {
      if (!this.#cache.has(hash)) {
        await enforceIpRateLimit(
          env.UNKNOWN_KEY_IP_RATE_LIMIT,
          MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE,
          headers,
          Date.now(),
        );
      }
      return this.reload(hash, env);
    };
    return this.#singleFlight.run(hash, lookUp, (lookup) => ctx.waitUntil(lookup));
  }

  /**
   * The key's record as D1 has it now. Throws the 401 of a key that no longer opens. Only usable keys are cached: a
   * refusal must not outlive its cause, and a guessed key must leave nothing behind.
   */
  async reload(hash: string, env: Bindings): Promise<KeyRecord> {
    const requestedAtMs = Date.now();
    const record = await findKeyRecord(openDatabase(env.DB), hash);
    if (!record || !isUsable(record, Date.now())) {
      this.#cache.delete(hash);
      throw invalidKey();
    }
    this.#cache.set(hash, record, requestedAtMs);
    return record;
  }

  #usable(hash: string): KeyRecord | undefined {
    const nowMs = Date.now();
    const cached = this.#cache.get(hash, nowMs);
    return cached && isUsable(cached, nowMs) ? cached : undefined;
  }
}
