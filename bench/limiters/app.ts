/** The app around each limiter here. Authentication, route and statuses are the same for all of them. */
import { Hono, type MiddlewareHandler } from "hono";

/** What a limiter's file gets (docs/performance.md). `T` is the class that it exports as `Limiter`. */
export type LimiterBindings<T extends Rpc.DurableObjectBranded | undefined = undefined> = {
  /** Requests a minute for each `Authorization` header. */
  readonly LIMIT: string;
  readonly DB: D1Database;
  readonly LIMITER: DurableObjectNamespace<T>;
  /** Set up with the same limit. */
  readonly RATE_LIMIT: RateLimit;
};

export type LimiterEnv<T extends Rpc.DurableObjectBranded | undefined = undefined> = {
  Bindings: LimiterBindings<T>;
  Variables: { key: string };
};

/** Admits or answers 429. */
export type Limiter<T extends Rpc.DurableObjectBranded | undefined = undefined> = MiddlewareHandler<
  LimiterEnv<T>
>;

/** The limiter is made by the first request, as some start a timer, which workerd allows in requests only. */
export function limitedApp<T extends Rpc.DurableObjectBranded | undefined = undefined>(
  make: (limit: number) => Limiter<T>,
): Hono<LimiterEnv<T>> {
  let limiter: Limiter<T> | undefined;
  const requireKey: Limiter<T> = async (c, next) => {
    const key = c.req.header("Authorization");
    if (key === undefined) return c.json({ error: "unauthorized" }, 401);
    c.set("key", key);
    limiter ??= make(Number(c.env.LIMIT));
    return await limiter(c, next);
  };
  return new Hono<LimiterEnv<T>>()
    .use(requireKey)
    .get("/limited", (c) => c.json({ ok: true }))
    .all("/limited", (c) => c.json({ error: "method not allowed" }, 405));
}

export function currentMinute(): number {
  return Math.floor(Date.now() / 60_000);
}
