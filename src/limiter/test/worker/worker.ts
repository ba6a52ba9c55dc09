/** The Worker of these tests: the class as it is, and subclasses with each option. */
import { DurableObject } from "cloudflare:workers";
import { Hono } from "hono";
import {
  type LimiterCall,
  perDay,
  perMinute,
  RateLimiter,
  type RateLimiterOptions,
  type Report,
  rateLimit,
  type Verdict,
} from "../../index.ts";

export { RateLimiter };

/** What the objects below have reported, in the isolate that the tests share with them. */
export const reports: Report[] = [];

/** The package's, in milliseconds. The tests' objects wait a quarter of it. */
const IDLE_FLUSH_MS = 1_000;
const realSetTimeout = globalThis.setTimeout;
globalThis.setTimeout = ((handler: () => void, ms = 0) =>
  realSetTimeout(handler, ms === IDLE_FLUSH_MS ? ms / 4 : ms)) as typeof setTimeout; // the package passes these two only

let loads: Promise<void> = Promise.resolve();

/** Until `release`, no policy is loaded. */
export function holdLoads(): { release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  loads = promise;
  return { release: resolve };
}

export class ReportingLimiter extends RateLimiter<Cloudflare.Env> {
  constructor(ctx: DurableObjectState, env: Cloudflare.Env, options?: RateLimiterOptions) {
    super(ctx, env, options);
  }
  override async loadPolicy(key: string) {
    await loads;
    if (key.startsWith("unknown")) return null;
    return { limits: [perMinute(1_000), perDay(100_000)], bans: { strikes: 1 }, facts: { plan: "business" } };
  }
  override async report(report: Report) {
    reports.push(report);
  }
}

export class KeepingLimiter extends ReportingLimiter {
  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env, { keep: true });
  }
}

export class WrongLimiter extends RateLimiter<Cloudflare.Env> {
  override async loadPolicy() {
    return { limits: [perMinute(-1)] };
  }
}

/** Of the version before `admitAll`. */
export class EarlierLimiter extends DurableObject<Cloudflare.Env> {
  readonly #limiter = new RateLimiter(this.ctx, this.env);
  admit(call: LimiterCall): Promise<Verdict> {
    return this.#limiter.admit(call);
  }
}

const app = new Hono<{ Bindings: Cloudflare.Env }>();
app.use(
  rateLimit<{ Bindings: Cloudflare.Env }>({
    namespace: (c) => c.env.RATE_LIMITER,
    key: (c) => c.req.path,
    limits: [perMinute(60), perDay(100)],
  }),
);
app.get("*", (c) => c.text(c.get("rateLimit")?.kind ?? ""));

// The entry point of a Worker.
export default app;
