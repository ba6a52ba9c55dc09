/** The operator's calls of a key's limiter. */
import { callLimiter, type StubOptions } from "hono-durable-limiter";
import { logError } from "../platform/log.ts";
import type { Location } from "./key.ts";
import type { KeyLimiterBase } from "./key-limiter.ts";

export type KeyLimiterEnv = { readonly KEY_LIMITER: DurableObjectNamespace<KeyLimiterBase> };

/** The key of a limiter. A key that was never used has no limiter. */
export type LimiterAddress = { readonly id: string; readonly location: Location | null };

/** Calls a limiter, perhaps twice. Logs an error and returns undefined if the limiter cannot be reached. */
export async function reachLimiter<T>(
  env: KeyLimiterEnv,
  { id, location }: LimiterAddress,
  call: (limiter: DurableObjectStub<KeyLimiterBase>) => Promise<T>,
): Promise<T | undefined> {
  const stubOf = (options: StubOptions) =>
    env.KEY_LIMITER.getByName(id, { ...options, ...(location === null ? {} : { locationHint: location }) });
  try {
    return await callLimiter(stubOf, call);
  } catch (thrown) {
    logError("limiter_unreachable", thrown, { keyId: id });
    return undefined;
  }
}
