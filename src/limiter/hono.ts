/** The middleware asks the object to admit a request, answers a refused request, and sets the headers. */
import type { Context, Env, MiddlewareHandler, Next } from "hono";
import { addressKey } from "./address-key.ts";
import {
  type Admission,
  type AdmitOptions,
  admit,
  checkNamespace,
  type LimiterNamespace,
  settle,
} from "./client.ts";
import { checkBans } from "./core/bans.ts";
import type { Verdict } from "./core/decide.ts";
import { isScarcer } from "./core/headers.ts";
import { type Cost, checkLimits, type Limit } from "./core/windows.ts";

export type RefusedVerdict = Exclude<Verdict, { kind: "admitted" }>;

type MaybePromise<T> = T | Promise<T>;
type Answer = Response | ReturnType<MiddlewareHandler>;

/**
 * `Unit` names the units of the limits besides requests.
 *
 * @example
 * const options: RateLimitOptions<E, "tokens"> = {
 *   namespace: (c) => c.env.RATE_LIMITER,
 *   key: clientAddress,
 *   limits: [perMinute(60), { name: "tokens", unit: "tokens", amount: 90_000, seconds: 60 }],
 *   cost: () => ({ tokens: 4_000 }),
 *   settle: async (c) => ({ tokens: await c.get("tokens") }),
 *   bans: { strikes: 30 },
 *   skip: (c) => c.req.path === "/health",
 *   onRefused: (c) => c.json({ error: "rate_limited" }, 429),
 *   onUnreachable: (_c, next) => next(),
 * };
 */
export type RateLimitOptions<E extends Env = Env, Unit extends string = "requests"> = Pick<
  AdmitOptions<Unit>,
  "bans" | "headers" | "timeoutMs"
> & {
  readonly namespace: (c: Context<E>) => LimiterNamespace;
  /** Requests with the same key are counted together. Dashboards show the key, so use no secret. */
  readonly key: (c: Context<E>) => MaybePromise<string>;
  /** A class with a `loadPolicy` needs no limits here. */
  readonly limits?:
    | readonly Limit<Unit>[]
    | ((c: Context<E>) => MaybePromise<readonly Limit<Unit>[]>)
    | undefined;
  /** The hash that the policy's `credentials` are compared with. */
  readonly credential?: ((c: Context<E>) => MaybePromise<string>) | undefined;
  /** How much the request counts: a whole number from 1 on, or such numbers by unit. The default is 1. */
  readonly cost?: ((c: Context<E>) => MaybePromise<Cost<NoInfer<Unit>>>) | undefined;
  /**
   * What the handled request has cost, from 0 on. Until then, and if undefined, `cost` is reserved. Runs
   * behind the answer: a promise may wait for the end of a stream, and a failure is only logged.
   */
  readonly settle?: ((c: Context<E>) => MaybePromise<Cost<NoInfer<Unit>> | undefined>) | undefined;
  /** These requests are not counted and get no headers. */
  readonly skip?: ((c: Context<E>) => MaybePromise<boolean>) | undefined;
  /** Where a new object is created. */
  readonly locationHint?: ((c: Context<E>) => DurableObjectLocationHint | undefined) | undefined;
  /**
   * Answers a refused request. By default 429, or 413 for `too_costly`, or 403 for `unknown`. `next()` lets
   * the request pass uncounted.
   */
  readonly onRefused?: ((c: Context<E>, verdict: RefusedVerdict, next: Next) => Answer) | undefined;
  /** Answers if the object cannot be reached. By default 503. `next()` lets the request pass uncounted. */
  readonly onUnreachable?: ((c: Context<E>, next: Next, cause: unknown) => Answer) | undefined;
};

declare module "hono" {
  interface ContextVariableMap {
    /** Undefined if the request was skipped or the object could not be reached. */
    rateLimit: Verdict | undefined;
  }
}

/** `addressKey` of a request in Hono. */
export function clientAddress(c: Context): string {
  return addressKey(c.req.raw);
}

/** Limits the requests that pass. Throws a RangeError if the limits, the ban rule or the timeout is wrong. */
export function rateLimit<E extends Env = Env, Unit extends string = "requests">(
  options: RateLimitOptions<E, Unit>,
): MiddlewareHandler<E> {
  const { onRefused = refuse, onUnreachable = unavailable, timeoutMs } = options;
  if (Array.isArray(options.limits)) checkLimits(options.limits);
  if (options.bans) checkBans(options.bans);
  if (timeoutMs !== undefined && !(timeoutMs > 0)) throw new RangeError("timeoutMs must be more than 0");
  /** An app may use the same middleware twice, for `*` and for `/api/*`. A request is counted once. */
  const counted = new WeakSet<Context<E>>();
  return async (c, next) => {
    if (counted.has(c)) return next();
    counted.add(c);
    if (options.skip && (await options.skip(c))) return next();
    const namespace = options.namespace(c);
    checkNamespace(namespace, `namespace: ${options.namespace}`);
    const call = await callOf(c, options);
    let admission: Admission;
    try {
      admission = await admit(namespace, call);
    } catch (cause) {
      if (isMistakeOfHost(cause)) throw cause;
      return onUnreachable(c, next, cause);
    }
    const { verdict } = admission;
    c.set("rateLimit", verdict);
    try {
      if (verdict.kind !== "admitted") {
        const answer = await onRefused(c, verdict, next);
        // Hono does the same: after `next()` there is a response already.
        if (answer && !c.finalized) c.res = answer;
      } else {
        await next();
        if (options.settle) {
          const settled = settleBehind(c, options, namespace, call);
          waitUntilOf(c)?.(settled);
        }
      }
    } finally {
      // If `onRefused` or the handler throws, the app's onError answers with these headers.
      if (isShown(verdict, c.get("rateLimit"))) {
        c.set("rateLimit", verdict);
        setHeaders(c, admission.headers);
      }
    }
  };
}

async function callOf<E extends Env, Unit extends string>(
  c: Context<E>,
  options: RateLimitOptions<E, Unit>,
): Promise<AdmitOptions<Unit>> {
  const { limits, bans, headers, timeoutMs } = options;
  return {
    key: await options.key(c),
    limits: typeof limits === "function" ? await limits(c) : limits,
    bans,
    cost: options.cost && (await options.cost(c)),
    credential: options.credential && (await options.credential(c)),
    settleId: options.settle && crypto.randomUUID(),
    locationHint: options.locationHint?.(c),
    waitUntil: waitUntilOf(c),
    headers,
    timeoutMs,
  };
}

/** The object throws for a wrong policy, the platform for a wrong binding. Neither may let requests pass. */
function isMistakeOfHost(cause: unknown): boolean {
  return cause instanceof RangeError || cause instanceof TypeError;
}

/** The answer does not wait. If the settlement fails, the reserved cost stays. */
async function settleBehind<E extends Env, Unit extends string>(
  c: Context<E>,
  options: RateLimitOptions<E, Unit>,
  namespace: LimiterNamespace,
  { settleId, ...address }: AdmitOptions<Unit>,
): Promise<void> {
  try {
    const cost = await options.settle?.(c);
    if (settleId !== undefined && cost !== undefined)
      await settle<Unit>(namespace, { ...address, settleId, cost });
  } catch (cause) {
    console.error("A settlement failed, so its reserve stays:", cause);
  }
}

/** `app.request` may have no execution context. Nothing cancels its promises. */
function waitUntilOf(c: Context): AdmitOptions["waitUntil"] {
  try {
    const { executionCtx } = c;
    return (held) => executionCtx.waitUntil(held);
  } catch {
    return undefined;
  }
}

/** Whether to show `verdict` instead of an inner middleware's: a refusal first, then the scarcer limit. */
function isShown(verdict: Verdict, shown: Verdict | undefined): boolean {
  if (shown === verdict || shown === undefined || !("quota" in shown)) return true;
  return "quota" in verdict && shown.kind === "admitted" && isScarcer(verdict, shown);
}

/** The headers of a response from fetch cannot be changed. `c.header` copies the response, which is slow. */
function setHeaders<E extends Env>(c: Context<E>, headers: Admission["headers"]): void {
  const entries = Object.entries(headers);
  try {
    for (const [name, value] of entries) c.res.headers.set(name, value);
  } catch {
    for (const [name, value] of entries) c.header(name, value);
  }
}

function refuse<E extends Env>(c: Context<E>, { kind }: RefusedVerdict): Response {
  if (kind === "unknown") return c.text("Forbidden", 403);
  return kind === "too_costly" ? c.text("Content Too Large", 413) : c.text("Too Many Requests", 429);
}

function unavailable<E extends Env>(c: Context<E>, _next: Next, cause: unknown): Response {
  console.error(cause);
  return c.text("Service Unavailable", 503, { "Retry-After": "1" });
}
