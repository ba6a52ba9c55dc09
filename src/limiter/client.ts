/** The Worker's side of the limiter, for any framework. The file imports nothing that Node lacks. */
import { Batches } from "./batches.ts";
import { callLimiter, DEFAULT_TIMEOUT_MS, type StubOptions } from "./call-limiter.ts";
import type { Block, Verdict } from "./core/decide.ts";
import { type HeaderOptions, headersOf } from "./core/headers.ts";
import { type Cost, type Limit, lengthMsOf } from "./core/windows.ts";
import type { RateLimiter } from "./object.ts";
import type { Inspection, LimiterCall } from "./object-types.ts";

export { type AddressOptions, addressKey } from "./address-key.ts";
export { callLimiter, type StubOptions } from "./call-limiter.ts";
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
  Thresholds,
  TooCostly,
  Unknown,
  Verdict,
} from "./core/decide.ts";
export { type HeaderOptions, headersOf } from "./core/headers.ts";
export type { CredentialUse, HourUsage, ReachedThreshold, RefusedMinute, Report } from "./core/usage.ts";
export {
  type Cost,
  type Costs,
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
export type { Inspection, LimiterCall, RateLimiterOptions } from "./object-types.ts";
export type { SharedNamespace } from "./shared.ts";
export { LimiterTimeoutError } from "./timeout.ts";

const CALL_VERSION = 1;
/** A timer may fire early, and who comes before the window's end has come in vain. */
const EARLY_MS = 5;
/** Callers whose turns come at the same time arrive within a tenth of the window, at most a second. */
const MAX_JITTER_MS = 1_000;
/** The platform tells an object its name only if the name is not longer than this. */
const MAX_NAME_BYTES = 1_024;
const UTF_8 = new TextEncoder();

/** The binding of `RateLimiter` or of a subclass. */
export type LimiterNamespace = {
  getByName(name: string, options?: DurableObjectNamespaceGetDurableObjectOptions): LimiterStub;
};

type LimiterStub = Pick<
  RateLimiter,
  "admit" | "admitAll" | "settle" | "inspect" | "reset" | "block" | "unblock"
>;

/** Which object to call, and how long to wait for its answer. */
export type Address = {
  /** Requests with the same key are counted together. Dashboards show the key, so use no secret. */
  readonly key: string;
  /** Where a new object is created. */
  readonly locationHint?: DurableObjectLocationHint | undefined;
  /** How long to wait for the object. The default is 2,000. */
  readonly timeoutMs?: number | undefined;
};

/**
 * `Unit` names the units of the limits besides requests.
 *
 * @example
 * const options: AdmitOptions<"tokens"> = {
 *   key: "user_1",
 *   limits: [perMinute(60), { name: "tokens", unit: "tokens", amount: 90_000, seconds: 60 }],
 *   cost: { tokens: 4_000 },
 *   settleId: crypto.randomUUID(),
 *   waitUntil: (held) => ctx.waitUntil(held),
 * };
 */
export type AdmitOptions<Unit extends string = "requests"> = Address &
  Omit<LimiterCall, "version" | "limits" | "cost"> & {
    /** A class with a `loadPolicy` needs no limits here. */
    readonly limits?: readonly Limit<Unit>[] | undefined;
    /** How much the request counts: a whole number from 1 on, or such numbers by unit. The default is 1. */
    readonly cost?: Cost<NoInfer<Unit>> | undefined;
    readonly headers?: HeaderOptions | undefined;
    /**
     * `waitUntil` of the request's context. With it, requests of a key that arrive together in an isolate share
     * a call of the object: a call that others wait for must not end when its own client hangs up.
     */
    readonly waitUntil?: ((held: Promise<unknown>) => void) | undefined;
  };

/** The decision and its headers by name. `unknown` has no headers. */
export type Admission = { readonly verdict: Verdict; readonly headers: Readonly<Record<string, string>> };

/**
 * Asks the object of a key to admit a request. With `waitMs`, waits for at most so long until the request is
 * admitted, and asks again when its turn comes. Rejects if the object cannot be reached. Rejects with a
 * RangeError or TypeError if the limits, the cost, the policy or the binding is wrong.
 */
export async function admit<Unit extends string = "requests">(
  namespace: LimiterNamespace,
  { key, locationHint, timeoutMs, headers, waitUntil, ...request }: AdmitOptions<Unit>,
): Promise<Admission> {
  const ask = askerOf(namespace, { key, locationHint, timeoutMs }, waitUntil);
  const startMs = Date.now();
  for (;;) {
    const leftMs = request.waitMs && request.waitMs - (Date.now() - startMs);
    const call = { version: CALL_VERSION, ...request, ...(leftMs && { waitMs: leftMs }) };
    const verdict = await ask(call);
    const pauseMs = pauseOf(verdict, leftMs);
    if (pauseMs === undefined)
      return { verdict, headers: "quota" in verdict ? headersOf(verdict, headers) : {} };
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** Batches of the keys that this isolate has seen, by namespace. With too many keys, all are forgotten. */
const batchesByNamespace = new WeakMap<LimiterNamespace, Map<string, Batches<LimiterCall, Verdict>>>();
const MAX_KEYS = 1_000;

function askerOf(
  namespace: LimiterNamespace,
  address: Address,
  waitUntil: AdmitOptions["waitUntil"],
): (call: LimiterCall) => Promise<Verdict> {
  const one = (call: LimiterCall) => callObject(namespace, address, (limiter) => limiter.admit(call));
  if (waitUntil === undefined) return one;
  checkNamespace(namespace, "the namespace");
  const all = (calls: readonly LimiterCall[]) =>
    callObject(namespace, address, (limiter) => limiter.admitAll(calls));
  const asking = { one, all, waitUntil, timeoutMs: address.timeoutMs ?? DEFAULT_TIMEOUT_MS };
  const batches = batchesOf(namespace, address.key);
  return (call) => batches.ask(call, asking);
}

function batchesOf(namespace: LimiterNamespace, key: string): Batches<LimiterCall, Verdict> {
  const byKey = batchesByNamespace.get(namespace) ?? new Map<string, Batches<LimiterCall, Verdict>>();
  const known = byKey.get(key);
  if (known) return known;
  if (byKey.size >= MAX_KEYS) byKey.clear();
  const batches = new Batches<LimiterCall, Verdict>();
  byKey.set(key, batches);
  batchesByNamespace.set(namespace, byKey);
  return batches;
}

/** Returns how long to wait before the next try, or undefined if there is no other try. */
function pauseOf(verdict: Verdict, leftMs = 0): number | undefined {
  // During a deploy an object of an older version may answer, which names no time.
  if (verdict.kind === "admitted" || typeof verdict.retryAfterMs !== "number") return undefined;
  const turnMs = verdict.retryAfterMs + EARLY_MS;
  if (turnMs > leftMs) return undefined;
  const spreadMs = verdict.kind === "limited" ? lengthMsOf(verdict.window) / 10 : MAX_JITTER_MS;
  return turnMs + Math.random() * Math.min(MAX_JITTER_MS, spreadMs, leftMs - turnMs);
}

/**
 * Replaces the cost that `admit` reserved under this id by the real cost: a whole number from 0 on, or such
 * numbers by unit. In a unit that is left out, the reserve stays.
 */
export async function settle<Unit extends string = "requests">(
  namespace: LimiterNamespace,
  { settleId, cost, ...address }: Address & { readonly settleId: string; readonly cost: Cost<NoInfer<Unit>> },
): Promise<void> {
  await callObject(namespace, address, (limiter) => limiter.settle(settleId, cost));
}

/** The present state of a key, or null if there is no policy. Counts nothing. */
export async function inspect(
  namespace: LimiterNamespace,
  { limits, ...address }: Address & Pick<LimiterCall, "limits">,
): Promise<Inspection | null> {
  return callObject(namespace, address, (limiter) => limiter.inspect({ limits }));
}

/** Forgets the counts, the strikes, the ban and the block of a key. */
export async function reset(namespace: LimiterNamespace, address: Address): Promise<void> {
  await callObject(namespace, address, (limiter) => limiter.reset());
}

/** Answers each request of a key as banned until the block ends. Replaces an earlier block. */
export async function block(
  namespace: LimiterNamespace,
  { endsAtMs, reason, ...address }: Address & Block,
): Promise<void> {
  await callObject(namespace, address, (limiter) => limiter.block({ endsAtMs, reason }));
}

/** Ends a block, and a ban for strikes. */
export async function unblock(namespace: LimiterNamespace, address: Address): Promise<void> {
  await callObject(namespace, address, (limiter) => limiter.unblock());
}

async function callObject<T>(
  namespace: LimiterNamespace,
  { key, locationHint, timeoutMs }: Address,
  call: (limiter: LimiterStub) => Promise<T>,
): Promise<T> {
  checkNamespace(namespace, "the namespace");
  const name = await nameOf(key);
  const stubOf = (options: StubOptions) =>
    namespace.getByName(name, { ...options, ...(locationHint && { locationHint }) });
  return callLimiter(stubOf, call, timeoutMs);
}

/** Throws a TypeError if a binding is missing. `source` is the code that names the binding. */
export function checkNamespace(namespace: LimiterNamespace | undefined, source: string): void {
  if (typeof namespace?.getByName === "function") return;
  const found = namespace === undefined ? "undefined" : "no Durable Object namespace";
  throw new TypeError(`${source} is ${found}: see durable_objects in the Worker's configuration`);
}

/** Returns the response with the headers of an admission. A response from `fetch` or `ASSETS` is copied. */
export function withHeaders(response: Response, headers: Admission["headers"]): Response {
  const copy = new Response(response.body, response);
  for (const [name, value] of Object.entries(headers)) copy.headers.set(name, value);
  return copy;
}

/** A client may choose its key, as in a header. So a key that is too long for a name is hashed. */
async function nameOf(key: string): Promise<string> {
  if (typeof key !== "string")
    throw new TypeError(`the key of a rate limit must be a string, not ${typeof key}`);
  const bytes = UTF_8.encode(key);
  if (bytes.length <= MAX_NAME_BYTES) return key;
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `sha256:${Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
