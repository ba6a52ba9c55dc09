/** The Worker's client of a key's limiter: the stub, one retry where it is safe, and a timeout. */
import type { KeyRecord } from "../auth/key-record.ts";
import type { Bindings } from "../context.ts";
import { unavailable } from "../errors.ts";
import { logError } from "../log.ts";
import { withTimeout } from "../with-timeout.ts";
import { MAX_ANSWER_MS } from "./core/ban.ts";
import type { Bookmark } from "./core/bookmark.ts";
import { type Call, policyOf, type Verdict } from "./core/decide.ts";
import type { KeyLimiter } from "./key-limiter.ts";

/** The maximum wait of a request for its limiter, retry included. */
export const LIMITER_TIMEOUT_MS = MAX_ANSWER_MS;

export type LimiterStub = DurableObjectStub<KeyLimiter>;

/** The name and location of a limiter. The name is the key's id, never a secret, as names appear in dashboards. */
export type LimiterAddress = Pick<KeyRecord, "id" | "location">;

/** The location hint matters only when the object is first addressed: it stays where it was created. */
export function limiterOf(env: Bindings, { id, location }: LimiterAddress): LimiterStub {
  return env.KEY_LIMITER.getByName(id, location === null ? {} : { locationHint: location });
}

/** Throws a 503 if the limiter cannot be reached, or is overloaded. */
export async function requestAdmission(
  env: Bindings,
  key: KeyRecord,
  request: Pick<Call, "sentAtMs" | "insteadOfVersion" | "bookmark" | "forgetsBookmark">,
): Promise<Verdict> {
  const call = { keyId: key.id, version: key.version, ...policyOf(key), ...request };
  try {
    // A request counted by a call whose answer was lost is counted again: that costs the key one, and gains it none.
    return await callWithRetry<Verdict>(env, key, (limiter, isRepeat) =>
      limiter.admit({ ...call, isRepeat }),
    );
  } catch (cause) {
    throw unavailable("The rate limiter cannot be reached. The request was not carried out.", cause);
  }
}

/** Rejects when there is no answer in time. A stub is broken once it threw, hence a new one for the second call. */
function callWithRetry<T>(
  env: Bindings,
  key: LimiterAddress,
  call: (limiter: LimiterStub, isRepeat: boolean) => Promise<T>,
): Promise<T> {
  const answer = async () => {
    try {
      return await call(limiterOf(env, key), false);
    } catch (thrown) {
      if (!isSafeToRetry(thrown)) throw thrown;
      return await call(limiterOf(env, key), true);
    }
  };
  return withTimeout(answer(), LIMITER_TIMEOUT_MS);
}

/** The key's next request, wherever it arrives, reads this state of D1 or a later one. */
export async function raiseBookmark(env: Bindings, key: LimiterAddress, bookmark: Bookmark): Promise<void> {
  await reach(env, key, (limiter) => limiter.raiseBookmark(key.id, bookmark));
}

/** Undefined if the limiter cannot be reached, which is logged. `call` may be made twice. */
export async function reach<T>(
  env: Bindings,
  key: LimiterAddress,
  call: (limiter: LimiterStub) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await callWithRetry(env, key, call);
  } catch (thrown) {
    logError("limiter_unreachable", thrown, { keyId: key.id });
    return undefined;
  }
}

/** Set by the runtime on the error that a stub throws. `durableObjectReset` is undocumented: the object was reset, as by a deploy. */
type ObjectError = Error & { retryable?: boolean; overloaded?: boolean; durableObjectReset?: boolean };

/** Retrying an overloaded object would add to its load. */
function isSafeToRetry(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  const { retryable, durableObjectReset } = thrown as ObjectError;
  return (retryable === true || durableObjectReset === true) && !isOverload(thrown);
}

/** Whether the object got more requests than it can serve. Each has the requests of one key. */
function isOverload(thrown: unknown): boolean {
  return thrown instanceof Error && (thrown as ObjectError).overloaded === true;
}
