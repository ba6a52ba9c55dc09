/** The operator's side of a key's limiter: looking, telling it of changes, banning and lifting. Bounded in time like a request. */
import type { Bindings } from "../env.ts";
import { logError } from "../log.ts";
import type { Ban } from "./ban.ts";
import type { Decree } from "./decree.ts";
import type { Look } from "./key-limiter.ts";
import { inTime, type LimiterStub, limiterOf } from "./limiter-client.ts";
import type { Limits } from "./quota.ts";

/** Objects asked at once: more would only queue up behind the platform's bound on connections. */
const LOOKS_AT_ONCE = 20;

/** Whether the limiter heard: from then on it accepts no older copy of the key's record. */
export async function tellVersion(env: Bindings, keyId: string, version: number): Promise<boolean> {
  const told = await reach(env, keyId, async (limiter) => {
    await limiter.requireVersion(version);
    return true;
  });
  return told ?? false;
}

/** Undefined when the limiter cannot be reached. */
export function lookAt(env: Bindings, keyId: string, limits: Limits): Promise<Look | undefined> {
  return reach(env, keyId, (limiter) => limiter.look(limits));
}

/** Looks at each key's limiter, a bounded number at a time; unreachable ones are left out. */
export async function lookAtAll<Key extends { id: string; limits: Limits }>(
  env: Bindings,
  keys: readonly Key[],
): Promise<{ key: Key; look: Look }[]> {
  const looks: { key: Key; look: Look }[] = [];
  for (let start = 0; start < keys.length; start += LOOKS_AT_ONCE) {
    const batch = keys.slice(start, start + LOOKS_AT_ONCE);
    const seen = await Promise.all(
      batch.map(async (key) => ({ key, look: await lookAt(env, key.id, key.limits) })),
    );
    for (const { key, look } of seen) if (look) looks.push({ key, look });
  }
  return looks;
}

/** The live ban that the decree ended, null if there was none; undefined when the limiter cannot be reached. */
export function decreeTo(env: Bindings, keyId: string, decree: Decree): Promise<Ban | null | undefined> {
  return reach(env, keyId, (limiter) => limiter.obey(decree));
}

async function reach<T>(
  env: Bindings,
  keyId: string,
  ask: (limiter: LimiterStub) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await inTime(ask(limiterOf(env, keyId)));
  } catch (thrown) {
    logError("limiter_not_reached", thrown, { keyId });
    return undefined;
  }
}
