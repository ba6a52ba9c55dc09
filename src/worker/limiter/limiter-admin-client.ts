/** The admin API's side of a key's limiter: inspecting it, and sending it the version of a change. */
import type { Bindings } from "../context.ts";
import { logError } from "../log.ts";
import { withTimeout } from "../with-timeout.ts";
import type { KeyPolicy } from "./core/decide.ts";
import type { LimiterSnapshot } from "./key-limiter.ts";
import { LIMITER_TIMEOUT_MS, type LimiterAddress, type LimiterStub, limiterOf } from "./limiter-client.ts";

/** More would only queue up behind the platform's bound on connections. */
const MAX_CONCURRENT_INSPECTIONS = 20;

/** A key whose limiter exists. The first call to a limiter decides where it lives, so it must be a client's (ADR-17). */
export type UsedKey = LimiterAddress & KeyPolicy;

/** Whether the limiter was reached: from then on it accepts no older record. */
export async function raiseMinVersion(env: Bindings, key: LimiterAddress, version: number): Promise<boolean> {
  const reached = await reach(env, key, async (limiter) => {
    await limiter.raiseMinVersion(key.id, version);
    return true;
  });
  return reached ?? false;
}

/** Undefined when the limiter cannot be reached. */
export function inspectLimiter(env: Bindings, key: UsedKey): Promise<LimiterSnapshot | undefined> {
  const { limits, operatorBan, liftedBanId, forgivenBanId } = key;
  return reach(env, key, (limiter) => limiter.inspect({ limits, operatorBan, liftedBanId, forgivenBanId }));
}

/** Inspects each key's limiter, a bounded number at a time. Unreachable ones are left out. */
export async function inspectLimiters<Key extends UsedKey>(
  env: Bindings,
  keys: readonly Key[],
): Promise<{ key: Key; snapshot: LimiterSnapshot }[]> {
  const snapshots: { key: Key; snapshot: LimiterSnapshot }[] = [];
  for (let start = 0; start < keys.length; start += MAX_CONCURRENT_INSPECTIONS) {
    const batch = keys.slice(start, start + MAX_CONCURRENT_INSPECTIONS);
    const inspected = await Promise.all(
      batch.map(async (key) => ({ key, snapshot: await inspectLimiter(env, key) })),
    );
    for (const { key, snapshot } of inspected) if (snapshot) snapshots.push({ key, snapshot });
  }
  return snapshots;
}

async function reach<T>(
  env: Bindings,
  key: LimiterAddress,
  call: (limiter: LimiterStub) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await withTimeout(call(limiterOf(env, key)), LIMITER_TIMEOUT_MS);
  } catch (thrown) {
    logError("limiter_unreachable", thrown, { keyId: key.id });
    return undefined;
  }
}
