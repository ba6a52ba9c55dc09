/** The admin API's client of a key's limiter: inspects it, and sends it the version of a change. */
import type { Bindings } from "../context.ts";
import type { NamedKeyRecord } from "../db/key-record-repository.ts";
import { inBatches } from "../in-batches.ts";
import { policyOf } from "./core/decide.ts";
import { NEW_LIMITER } from "./core/limiter-state.ts";
import { type LimiterSnapshot, snapshotOf } from "./core/snapshot.ts";
import { type LimiterAddress, reach } from "./limiter-client.ts";

/** More would only wait for the platform's limit on connections. */
const MAX_CONCURRENT_INSPECTIONS = 20;

/** A key whose limiter is sent a version. One that was never used has no limiter (ADR-17). */
export type ChangedKey = LimiterAddress & Pick<NamedKeyRecord, "version" | "isUsed">;

/**
 * Whether no record older than this version is admitted from now on: the limiter has the version, or the key was never
 * used. Its first use is marked in D1, which shows the isolate the current version.
 */
export async function raiseMinVersion(env: Bindings, key: ChangedKey): Promise<boolean> {
  if (!key.isUsed) return true;
  const reached = await reach(env, key, async (limiter) => {
    await limiter.raiseMinVersion(key.id, key.version);
    return true;
  });
  return reached ?? false;
}

/** Undefined if the limiter cannot be reached. Does not call the limiter of a key that was never used (ADR-17). */
export async function inspectLimiter(
  env: Bindings,
  key: NamedKeyRecord,
): Promise<LimiterSnapshot | undefined> {
  const policy = policyOf(key);
  if (!key.isUsed) return snapshotOf(NEW_LIMITER, policy, Date.now());
  // The platform's types of a call make arrays of the tuples in it.
  return reach(env, key, (limiter) => limiter.inspect(policy) as unknown as Promise<LimiterSnapshot>);
}

export type InspectedLimiter = { readonly key: NamedKeyRecord; readonly snapshot: LimiterSnapshot };

/** Inspects each key's limiter, a bounded number at a time. Unreachable ones are left out. */
export async function inspectLimiters(
  env: Bindings,
  keys: readonly NamedKeyRecord[],
): Promise<InspectedLimiter[]> {
  const inspected = await inBatches(keys, MAX_CONCURRENT_INSPECTIONS, async (key) => {
    const snapshot = await inspectLimiter(env, key);
    return snapshot ? [{ key, snapshot }] : [];
  });
  return inspected.flat();
}
