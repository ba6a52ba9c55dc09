/** Makes limiters drop a policy that has changed: after the change, and again each minute (ADR-4). */

import type { Bindings } from "../context.ts";
import { openDatabase } from "../db/database.ts";
import { deleteRefreshedKeys, type KeysToRefresh, listOutdatedKeys } from "../key/outdated-keys-sql.ts";
import { reachLimiter } from "../key/reach-limiter.ts";
import { logError } from "../platform/log.ts";

/** An operator waits while this many limiters are refreshed. */
export const MAX_KEYS_AT_ONCE = 500;
/**
 * An invocation may make 10,000 calls, and a call of a limiter may be made twice. On the free plan an
 * invocation may make 1,000: the run fails there, and the next run goes on.
 */
export const MAX_KEYS_A_RUN = 4_000;
/** This many limiters are called at the same time. With a query a batch, a run makes 81 of 1,000 queries. */
const KEYS_A_BATCH = 50;

export type Effective = "immediately" | "within minutes";

/** Refreshes the limiters of these keys, after the batch of their change. */
export async function refreshAtOnce(env: Bindings, keys: KeysToRefresh): Promise<Effective> {
  return (await refreshLimiters(env, keys, MAX_KEYS_AT_ONCE))?.outdated === 0
    ? "immediately"
    : "within minutes";
}

/** Refreshes the limiters of these keys, at most `MAX_KEYS_AT_ONCE`, and returns the effect for each of them. */
export async function refreshEachAtOnce(
  env: Bindings,
  ids: readonly string[],
): Promise<(id: string) => Effective> {
  const left = await refreshLimiters(env, { keys: ids }, MAX_KEYS_AT_ONCE);
  return (id) => (left === null || left.ids.includes(id) ? "within minutes" : "immediately");
}

type Left = {
  /** How many of the keys are still outdated. */
  readonly outdated: number;
  /** The keys whose limiters could not be reached. */
  readonly ids: readonly string[];
};

/** Returns null if D1 fails, which is logged. Never rejects. */
export async function refreshLimiters(
  env: Bindings,
  keys: KeysToRefresh,
  maxKeys: number,
): Promise<Left | null> {
  const db = openDatabase(env.DB);
  try {
    const rows = await listOutdatedKeys(db, keys, maxKeys);
    let outdated = rows[0]?.outdated ?? 0;
    const ids: string[] = [];
    for (let start = 0; start < rows.length; start += KEYS_A_BATCH) {
      const batch = rows.slice(start, start + KEYS_A_BATCH);
      const isRefreshed = await Promise.all(
        batch.map((key) => reachLimiter(env, key, (limiter) => limiter.forget().then(() => true))),
      );
      const refreshed = batch.filter((_, i) => isRefreshed[i]);
      // Without keys the query is made too. It fails and ends the run if the run may make no more calls.
      await deleteRefreshedKeys(db, refreshed);
      outdated -= refreshed.length;
      ids.push(...batch.flatMap(({ id }, i) => (isRefreshed[i] ? [] : [id])));
    }
    return { outdated, ids };
  } catch (thrown) {
    logError("keys_not_refreshed", thrown);
    return null;
  }
}
