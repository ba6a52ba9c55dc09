/** A call of an object. */
import { withTimeout } from "./timeout.ts";

export const DEFAULT_TIMEOUT_MS = 2_000;

/** Options of `getByName`: the runtime begins no retry of its own after the caller has given up. */
export type StubOptions = { readonly retry: { readonly timeoutMs: number } };

/**
 * Calls an object, and once more if a deploy reset the object during the call: the runtime leaves that to the
 * caller. If the first call had counted, the request counts twice: a key may lose a request, and never gains
 * one. `stubOf` is called again, because a stub that threw stays broken.
 */
export async function callLimiter<Stub, T>(
  stubOf: (options: StubOptions) => Stub,
  call: (limiter: Stub) => Promise<T>,
  timeoutMs: number = DEFAULT_TIMEOUT_MS,
): Promise<T> {
  const options = { retry: { timeoutMs: retryTimeoutMs(timeoutMs) } };
  return withTimeout(
    callWithRetry(() => call(stubOf(options))),
    timeoutMs,
    "rate limiter",
  );
}

/** The runtime throws a RangeError unless this is a whole number within these bounds. */
function retryTimeoutMs(timeoutMs: number): number {
  return Math.min(60_000, Math.max(500, Math.ceil(timeoutMs)));
}

async function callWithRetry<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (thrown) {
    if (!isReset(thrown)) throw thrown;
    return await call();
  }
}

/**
 * The runtime repeats what is `retryable` by itself, and never runs a method twice:
 * https://developers.cloudflare.com/durable-objects/best-practices/automatic-retries/. A retry would add to the
 * load of an overloaded object. `durableObjectReset` is undocumented.
 */
function isReset(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  // The runtime sets these members on the error that a stub throws.
  const { overloaded, durableObjectReset } = thrown as Error & Record<string, unknown>;
  return durableObjectReset === true && overloaded !== true;
}
