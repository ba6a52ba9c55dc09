/** The operator's side of a key's limiter: looking, telling it of changes, banning and lifting. Bounded in time like a request. */
import type { Bindings } from "../context.ts";
import { logError } from "../log.ts";
import type { Ban } from "./core/ban.ts";
import type { BanOverride } from "./core/ban-override.ts";
import type { Limits } from "./core/quota.ts";
import type { LimiterSnapshot } from "./key-limiter.ts";
import { type LimiterStub, limiterOf, withTimeout } from "./limiter-client.ts";

/** Objects asked at once: more would only queue up behind the platform's bound on connections. */
const MAX_CONCURRENT_INSPECTIONS = 20;

/** Whether the limiter heard: from then on it accepts no older copy of the key's record. */
export async function raiseMinVersion(env: Bindings, keyId: string, version: number): Promise<boolean> {
  const told = await reach(env, keyId, async (limiter) => {
    await limiter.raiseMinVersion(version);
    return true;
  });
  return told ?? false;
}

/** Undefined when the limiter cannot be reached. */
export function inspectLimiter(
  env: Bindings,
  keyId: string,
  limits: Limits,
): Promise<LimiterSnapshot | undefined> {
  return reach(env, keyId, (limiter) => limiter.inspect(limits));
}

/** Looks at each key's limiter, a bounded number at a time; unreachable ones are left out. */
export async function inspectLimiters<Key extends { id: string; limits: Limits }>(
  env: Bindings,
  keys: readonly Key[],
): Promise<{ key: Key; look: LimiterSnapshot }[]> {
  const looks: { key: Key; look: LimiterSnapshot }[] = [];
  for (let start = 0; start < keys.length; start += MAX_CONCURRENT_INSPECTIONS) {
    const batch = keys.slice(start, start + MAX_CONCURRENT_INSPECTIONS);
    const seen = await Promise.all(
      batch.map(async (key) => ({ key, look: await inspectLimiter(env, key.id, key.limits) })),
    );
    for (const { key, look } of seen) if (look) looks.push({ key, look });
  }
  return looks;
}

/** The live ban that the override ended, null if there was none; undefined when the limiter cannot be reached. */
export function sendBanOverride(
  env: Bindings,
  keyId: string,
  override: BanOverride,
): Promise<Ban | null | undefined> {
  return reach(env, keyId, (limiter) => limiter.applyBanOverride(override));
}

async function reach<T>(
  env: Bindings,
  keyId: string,
  ask: (limiter: LimiterStub) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await withTimeout(ask(limiterOf(env, keyId)));
  } catch (thrown) {
    logError("limiter_unreachable", thrown, { keyId });
    return undefined;
  }
}
