/**
 * The Worker's side of a key's limiter: the stub, one retry where the platform says that it is safe, and a bound on
 * how long a request waits.
 */
import type { Bindings } from "../context.ts";
import type { Call, Verdict } from "./core/decide.ts";
import type { KeyLimiter } from "./key-limiter.ts";

/** The longest a request waits for its limiter, retry included. */
export const LIMITER_TIMEOUT_MS = 2_000;

export type LimiterStub = DurableObjectStub<KeyLimiter>;

/** A limiter is named by its key's id: never by a secret, as names appear in dashboards. */
export function limiterOf(env: Bindings, keyId: string): LimiterStub {
  return env.KEY_LIMITER.getByName(keyId);
}

export type Answer = Verdict | { readonly kind: "unreachable"; readonly cause: unknown };

/** Never throws, and never makes up a refusal: no answer in time is said to be none. */
export async function requestAdmission(env: Bindings, keyId: string, call: Call): Promise<Answer> {
  try {
    return await withTimeout(admitWithRetry(env, keyId, call));
  } catch (cause) {
    return { kind: "unreachable", cause };
  }
}

/**
 * A stub is broken once it threw, hence a new one. A request counted by a call whose answer was lost is counted
 * again: that costs the key one, and gains it none.
 */
async function admitWithRetry(env: Bindings, keyId: string, call: Call): Promise<Verdict> {
  try {
    return await limiterOf(env, keyId).admit(call);
  } catch (thrown) {
    if (!isSafeToRetry(thrown)) throw thrown;
    return await limiterOf(env, keyId).admit(call);
  }
}

/** Retrying an overloaded object would add to its load. */
function isSafeToRetry(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  const { retryable, overloaded } = thrown as Error & { retryable?: boolean; overloaded?: boolean }; // set by the runtime
  return retryable === true && overloaded !== true;
}

/** Rejects when no answer came in time. What was asked goes on by itself. */
export async function withTimeout<T>(answer: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`no answer within ${LIMITER_TIMEOUT_MS} ms`)),
      LIMITER_TIMEOUT_MS,
    );
  });
  try {
    return await Promise.race([answer, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
