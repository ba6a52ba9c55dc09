/** The app around each rival: the same authentication, route and statuses, so that only the limiter differs. */
import { Hono, type MiddlewareHandler } from "hono";
import type { BenchBindings } from "../worker/bindings.ts";
import { REACHED_LIMIT, type RivalId, type RivalLimit, rivalPath } from "./names.ts";

export type RivalEnv = { Bindings: BenchBindings; Variables: { key: string } };

/** Admits or answers 429. */
export type Limiter = MiddlewareHandler<RivalEnv>;

export function rivalApp(id: RivalId, limit: RivalLimit, limiter: Limiter): Hono<RivalEnv> {
  const path = rivalPath(id, limit);
  return new Hono<RivalEnv>()
    .use(requireKey, limiter)
    .get(path, (c) => c.json({ ok: true }))
    .all(path, (c) => c.json({ error: "method not allowed" }, 405));
}

const requireKey: Limiter = async (c, next) => {
  const key = c.req.header("Authorization");
  if (key === undefined) return c.json({ error: "unauthorized" }, 401);
  c.set("key", key);
  return await next();
};

export function currentMinute(): number {
  return Math.floor(Date.now() / 60_000);
}

/** The binding's limit is fixed in its configuration, so each limit has a binding of its own. */
export function rateLimitBinding(env: BenchBindings, limit: RivalLimit): RateLimit {
  return limit === REACHED_LIMIT ? env.REACHED_RATE_LIMIT : env.UNREACHED_RATE_LIMIT;
}
