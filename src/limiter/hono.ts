/** The middleware: asks the key's object to admit the request, answers if it refuses, and sets the headers. */
import type { Context, Env, MiddlewareHandler, Next } from "hono";
import { callLimiter, type LimiterNamespace } from "./client.ts";
import type { BanRule } from "./core/bans.ts";
import { checkCost, type Verdict } from "./core/decide.ts";
import { type HeaderOptions, headersOf } from "./core/headers.ts";
import { checkLimits, type Limit } from "./core/windows.ts";
import type { Call } from "./object.ts";

export type RefusedVerdict = Exclude<Verdict, { kind: "admitted" }>;

type MaybePromise<T> = T | Promise<T>;

/** The platform tells an object its name only up to this length. */
const MAX_KEY_BYTES = 1_024;
const UTF_8 = new TextEncoder();

export type RateLimitOptions<E extends Env = Env> = {
  readonly namespace: (c: Context<E>) => LimiterNamespace;
  /** Whose requests are counted together. It becomes the object's name, which dashboards show: never a secret. */
  readonly key: (c: Context<E>) => string;
  /** Not needed if the class has a `loadPolicy`. */
  readonly limits?: readonly Limit[] | ((c: Context<E>) => readonly Limit[]);
  /** Whether clients that go on after refusals are banned. Not by default. */
  readonly bans?: BanRule;
  /** The hash that the policy's `credentials` are compared with. */
  readonly credential?: (c: Context<E>) => MaybePromise<string>;
  /** How much the request counts: a whole number, by default 1. */
  readonly cost?: (c: Context<E>) => number;
  /** These requests are not counted and get no headers. */
  readonly skip?: (c: Context<E>) => boolean;
  /** Where a new object is created. */
  readonly locationHint?: (c: Context<E>) => DurableObjectLocationHint | undefined;
  readonly headers?: HeaderOptions;
  /** The answer to a refused request. By default 429, and 403 for `unknown`. */
  readonly onRefused?: (c: Context<E>, verdict: RefusedVerdict) => MaybePromise<Response>;
  /** The answer if the object cannot be reached. By default 503. `return next()` admits the request uncounted. */
  readonly onUnreachable?: (
    c: Context<E>,
    next: Next,
    cause: unknown,
  ) => Response | ReturnType<MiddlewareHandler>;
  /** How long to wait for the object, by default 2,000. */
  readonly timeoutMs?: number;
};

declare module "hono" {
  interface ContextVariableMap {
    /** Undefined if the request was skipped or the object could not be reached. */
    rateLimit: Verdict | undefined;
  }
}

export function rateLimit<E extends Env = Env>(options: RateLimitOptions<E>): MiddlewareHandler<E> {
  const { onRefused = refuse, onUnreachable = unavailable } = options;
  if (Array.isArray(options.limits)) checkLimits(options.limits);
  return async (c, next) => {
    if (options.skip?.(c)) return next();
    const { stubOf, call } = await callOf(c, options);
    let verdict: Verdict;
    try {
      verdict = await callLimiter(stubOf, (limiter) => limiter.admit(call), options.timeoutMs);
    } catch (cause) {
      return onUnreachable(c, next, cause);
    }
    c.set("rateLimit", verdict);
    try {
      if (verdict.kind === "admitted") await next();
      else c.res = await onRefused(c, verdict);
    } finally {
      // If `onRefused` throws, the app's onError makes the response with them. Those of a middleware that runs inside stay.
      if (c.get("rateLimit") === verdict) setHeaders(c, verdict, options.headers);
    }
  };
}

/** Outside of the `try`: a mistake of the host is no failure of the object, which `onUnreachable` may let pass. */
async function callOf<E extends Env>(c: Context<E>, options: RateLimitOptions<E>) {
  const { bans } = options;
  const key = options.key(c);
  if (UTF_8.encode(key).length > MAX_KEY_BYTES)
    throw new RangeError(`the key must have at most ${MAX_KEY_BYTES} bytes`);
  const limits = typeof options.limits === "function" ? options.limits(c) : options.limits;
  if (typeof options.limits === "function") checkLimits(limits ?? []);
  const cost = options.cost?.(c);
  if (cost !== undefined) checkCost(cost);
  const locationHint = options.locationHint?.(c);
  const credential = await options.credential?.(c);
  const call: Call = { limits, bans, credential, cost };
  const stubOf = () => options.namespace(c).getByName(key, locationHint && { locationHint });
  return { call, stubOf };
}

/** Headers of a response from fetch cannot be changed. `c.header` copies the response each time, which takes longer than the decision. */
function setHeaders<E extends Env>(
  c: Context<E>,
  verdict: Verdict,
  options: HeaderOptions | undefined,
): void {
  if (verdict.kind === "unknown") return;
  const headers = Object.entries(headersOf(verdict, options));
  try {
    for (const [name, value] of headers) c.res.headers.set(name, value);
  } catch {
    for (const [name, value] of headers) c.header(name, value);
  }
}

function refuse<E extends Env>(c: Context<E>, verdict: RefusedVerdict): Response {
  return verdict.kind === "unknown" ? c.text("Forbidden", 403) : c.text("Too Many Requests", 429);
}

function unavailable<E extends Env>(c: Context<E>): Response {
  return c.text("Service Unavailable", 503, { "Retry-After": "1" });
}
