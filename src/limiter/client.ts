/** A Worker's side of the limiter, for any framework. It imports nothing that Node does not have. */
import type { Verdict } from "./core/decide.ts";
import { type HeaderOptions, headersOf } from "./core/headers.ts";
import type { Call } from "./object.ts";
import { withTimeout } from "./timeout.ts";

export { type AddressOptions, addressKey } from "./address-key.ts";
export type { Ban, BanRule } from "./core/bans.ts";
export type {
  Admitted,
  Banned,
  Block,
  Counted,
  Credential,
  Facts,
  Limited,
  Policy,
  TooCostly,
  Unknown,
  Verdict,
} from "./core/decide.ts";
export { type HeaderOptions, headersOf } from "./core/headers.ts";
export type { HourUsage, ReachedThreshold, RefusedMinute, Report, Thresholds } from "./core/usage.ts";
export {
  type Limit,
  perDay,
  perHour,
  perMinute,
  perMonth,
  perWeek,
  type Quota,
  type WindowLength,
  type WindowView,
} from "./core/windows.ts";
export type { Call, Inspection, RateLimiterOptions } from "./object.ts";
export { LimiterTimeoutError } from "./timeout.ts";

const DEFAULT_TIMEOUT_MS = 2_000;
const CALL_VERSION = 1;
/** The platform tells an object its name only up to this length. */
const MAX_NAME_BYTES = 1_024;
const UTF_8 = new TextEncoder();

/** A namespace of the class, or of a subclass. */
export type LimiterNamespace = {
  getByName(name: string, options?: DurableObjectNamespaceGetDurableObjectOptions): LimiterStub;
};

type LimiterStub = {
  admit(call: Call): Promise<Verdict>;
  settle(settleId: string, cost: number): Promise<void>;
};

/** Which object is called, and how long its answer is waited for. */
export type Address = {
  /** Whose requests are counted together. The object's name, which dashboards show: never a secret. */
  readonly key: string;
  /** Where a new object is created. */
  readonly locationHint?: DurableObjectLocationHint | undefined;
  /** By default 2,000. */
  readonly timeoutMs?: number | undefined;
};

export type AdmitOptions = Address & Omit<Call, "version"> & { readonly headers?: HeaderOptions | undefined };

/** The headers are those of the decision, by name; none for `unknown`. */
export type Admission = { readonly verdict: Verdict; readonly headers: Readonly<Record<string, string>> };

/**
 * Asks the object of a key to admit a request. Rejects if the object cannot be reached, and with a RangeError
 * or TypeError if the limits, the cost, the policy or the binding is wrong.
 */
export async function admit(
  namespace: LimiterNamespace,
  { key, locationHint, timeoutMs, headers, ...request }: AdmitOptions,
): Promise<Admission> {
  const call = { version: CALL_VERSION, ...request };
  const stubOf = await stubsOf(namespace, { key, locationHint });
  const verdict = await callLimiter(stubOf, (limiter) => limiter.admit(call), timeoutMs);
  return { verdict, headers: "quota" in verdict ? headersOf(verdict, headers) : {} };
}

/** Settles what `admit` reserved under this id: the request has cost so much, from 0 on. */
export async function settle(
  namespace: LimiterNamespace,
  { settleId, cost, timeoutMs, ...address }: Address & { readonly settleId: string; readonly cost: number },
): Promise<void> {
  const stubOf = await stubsOf(namespace, address);
  await callLimiter(stubOf, (limiter) => limiter.settle(settleId, cost), timeoutMs);
}

async function stubsOf(
  namespace: LimiterNamespace,
  { key, locationHint }: Address,
): Promise<() => LimiterStub> {
  const name = await nameOf(key);
  return () => namespace.getByName(name, locationHint && { locationHint });
}

/** A client may choose its key, such as a header. One that is too long for a name is hashed. */
async function nameOf(key: string): Promise<string> {
  if (typeof key !== "string")
    throw new TypeError(`the key of a rate limit must be a string, not ${typeof key}`);
  const bytes = UTF_8.encode(key);
  if (bytes.length <= MAX_NAME_BYTES) return key;
  return `sha256:${new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex()}`;
}

/**
 * Calls an object, retry included within the timeout. If the answer to the first call was lost, a request is
 * counted twice: the key loses one, and gains none. A stub is broken once it threw, hence `stubOf`.
 */
export async function callLimiter<Stub, T>(
  stubOf: () => Stub,
  call: (limiter: Stub) => Promise<T>,
  timeoutMs: number = DEFAULT_TIMEOUT_MS,
): Promise<T> {
  return withTimeout(callWithRetry(stubOf, call), timeoutMs, "rate limiter");
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
 * https://developers.cloudflare.com/durable-objects/best-practices/error-handling/. Retrying an overloaded
 * object would add to its load. `durableObjectReset` is undocumented: the object was reset, as by a deploy.
 */
function isSafeToRetry(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  // Set by the runtime on what a stub throws.
  const { retryable, overloaded, durableObjectReset } = thrown as Error & Record<string, unknown>;
  return (retryable === true || durableObjectReset === true) && overloaded !== true;
}
