/** Tells limiters to forget a policy that has changed: after the change, and again each minute (ADR-4). */

import type { Bindings } from "../context.ts";
import { openDatabase } from "../db/database.ts";
import { reachLimiter } from "../key/reach-limiter.ts";
import { deleteToldKeys, type KeysToTell, listUntoldKeys } from "../key/untold-keys-sql.ts";
import { logError } from "../platform/log.ts";

/** An operator waits while this many limiters are told. */
export const MAX_KEYS_AT_ONCE = 500;
/**
 * An invocation may make 10,000 calls, and a call of a limiter may be made twice. On the free plan an
 * invocation may make 1,000: the run fails there, and the next run goes on.
 */
export const MAX_KEYS_A_RUN = 4_000;
/** This many limiters are called at the same time. With a query a batch, a run makes 81 of 1,000 queries. */
const KEYS_A_BATCH = 50;

export type Effective = "immediately" | "within minutes";

/** Tells the limiters of these keys, after the batch of their change. */
export async function tellAtOnce(env: Bindings, keys: KeysToTell): Promise<Effective> {
  return (await tellLimiters(env, keys, MAX_KEYS_AT_ONCE)) === 0 ? "immediately" : "within minutes";
}

/** Returns how many of the keys are still untold; null if D1 fails, which is logged. Never rejects. */
export async function tellLimiters(env: Bindings, keys: KeysToTell, maxKeys: number): Promise<number | null> {
  const db = openDatabase(env.DB);
  try {
    const rows = await listUntoldKeys(db, keys, maxKeys);
    let untold = rows[0]?.untold ?? 0;
    for (let start = 0; start < rows.length; start += KEYS_A_BATCH) {
      const batch = rows.slice(start, start + KEYS_A_BATCH);
      const isTold = await Promise.all(
        batch.map((key) => reachLimiter(env, key, (limiter) => limiter.forget().then(() => true))),
      );
      const told = batch.filter((_, i) => isTold[i]);
      // Without keys the query is made too. It fails and ends the run if the run may make no more calls.
      await deleteToldKeys(db, told);
      untold -= told.length;
    }
    return untold;
  } catch (thrown) {
    logError("keys_not_told", thrown);
    return null;
  }
}
