/** The Worker's calls of a key's object: the stub, one retry where it is safe, and a timeout. */

import type { Verdict } from "./core/decide.ts";
import type { Call } from "./object.ts";

const DEFAULT_TIMEOUT_MS = 2_000;

/** A namespace of the class, or of a subclass. */
export type LimiterNamespace = {
  getByName(
    name: string,
    options?: DurableObjectNamespaceGetDurableObjectOptions,
  ): {
    admit(call: Call): Promise<Verdict>;
  };
};

export class LimiterTimeoutError extends Error {
  override readonly name = "LimiterTimeoutError";
}

/**
 * Calls an object, retry included within the timeout. A request that was counted by a call whose answer was lost is counted again: that costs
 * the key one, and gains it none. A stub is broken once it threw, hence `stubOf` for the second call.
 */
export async function callLimiter<Stub, T>(
  stubOf: () => Stub,
  call: (limiter: Stub) => Promise<T>,
  timeoutMs = DEFAULT_TIMEOUT_MS,
): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const refuse = () =>
    reject(new LimiterTimeoutError(`no answer of the rate limiter within ${timeoutMs} ms`));
  const timer = setTimeout(refuse, timeoutMs);
  try {
    return await Promise.race([callWithRetry(stubOf, call), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

async function callWithRetry<Stub, T>(stubOf: () => Stub, call: (limiter: Stub) => Promise<T>): Promise<T> {
  try {
    return await call(stubOf());
  } catch (thrown) {
    if (!isSafeToRetry(thrown)) throw thrown;
    return await call(stubOf());
  }
}

/**
 * https://developers.cloudflare.com/durable-objects/best-practices/error-handling/. Retrying an overloaded object would add to its load.
 * `durableObjectReset` is undocumented: the object was reset, as by a deploy.
 */
function isSafeToRetry(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  // Set by the runtime on what a stub throws.
  const { retryable, overloaded, durableObjectReset } = thrown as Error & Record<string, unknown>;
  return (retryable === true || durableObjectReset === true) && overloaded !== true;
}
