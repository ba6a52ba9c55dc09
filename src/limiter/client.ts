/** The Worker's side of the limiter, for any framework. The file imports nothing that Node lacks. */
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
/** The platform tells an object its name only if the name is not longer than this. */
const MAX_NAME_BYTES = 1_024;
const UTF_8 = new TextEncoder();

/** The binding of `RateLimiter` or of a subclass. */
export type LimiterNamespace = {
  getByName(name: string, options?: DurableObjectNamespaceGetDurableObjectOptions): LimiterStub;
};

type LimiterStub = {
  admit(call: Call): Promise<Verdict>;
  settle(settleId: string, cost: number): Promise<void>;
};

/** Which object to call, and how long to wait for its answer. */
export type Address = {
  /** Requests with the same key are counted together. Dashboards show the key, so use no secret. */
  readonly key: string;
  /** Where a new object is created. */
  readonly locationHint?: DurableObjectLocationHint | undefined;
  /** The default is 2,000. */
  readonly timeoutMs?: number | undefined;
};

export type AdmitOptions = Address & Omit<Call, "version"> & { readonly headers?: HeaderOptions | undefined };

/** The decision and its headers by name. `unknown` has no headers. */
export type Admission = { readonly verdict: Verdict; readonly headers: Readonly<Record<string, string>> };

/**
 * Asks the object of a key to admit a request. Rejects if the object cannot be reached. Rejects with a
 * RangeError or TypeError if the limits, the cost, the policy or the binding is wrong.
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

/** Replaces the cost that `admit` reserved under this id by the real cost, a whole number from 0 on. */
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

/** A client may choose its key, as in a header. So a key that is too long for a name is hashed. */
async function nameOf(key: string): Promise<string> {
  if (typeof key !== "string")
    throw new TypeError(`the key of a rate limit must be a string, not ${typeof key}`);
  const bytes = UTF_8.encode(key);
  if (bytes.length <= MAX_NAME_BYTES) return key;
  return `sha256:${new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex()}`;
}

/**
 * Calls an object, and calls it again within the timeout where that is safe. If the first answer was lost, a
 * request counts twice: a key may lose a request, and never gains one. `stubOf` is called again, because a
 * stub that threw stays broken.
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
 * See https://developers.cloudflare.com/durable-objects/best-practices/error-handling/. A retry would add to
 * the load of an overloaded object. `durableObjectReset` is undocumented: a deploy resets objects.
 */
function isSafeToRetry(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  // The runtime sets these members on the error that a stub throws.
  const { retryable, overloaded, durableObjectReset } = thrown as Error & Record<string, unknown>;
  return (retryable === true || durableObjectReset === true) && overloaded !== true;
}
