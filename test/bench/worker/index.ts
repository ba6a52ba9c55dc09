/** The real Worker and what it is compared with, in one isolate. With COUNT set, it counts what requests cost. */
import { Hono } from "hono";
import worker, { KeyLimiter as RealKeyLimiter } from "../../../src/worker/index.ts";
import { cloudflareBinding } from "../rivals/cloudflare-binding.ts";
import { d1Lookup } from "../rivals/d1-lookup.ts";
import { drizzleRows } from "../rivals/drizzle-rows.ts";
import { honoRateLimiter } from "../rivals/hono-rate-limiter.ts";
import { memoryObject } from "../rivals/memory-object.ts";
import {
  DRIZZLE_ROWS_PATH,
  REACHED_LIMIT,
  RIVAL_IDS,
  type RivalId,
  type RivalLimit,
  UNREACHED_LIMIT,
} from "../rivals/names.ts";
import { rateLimiterFlexible } from "../rivals/rate-limiter-flexible.ts";
import { type Limiter, rivalApp } from "../rivals/rival.ts";
import {
  WriteThroughCounter as RealWriteThroughCounter,
  writeThroughObject,
} from "../rivals/write-through-object.ts";
import type { BenchBindings } from "./bindings.ts";
import { takeCosts } from "./costs.ts";
import { countAlarms, countCalls, countD1, countStorage } from "./counting.ts";
import { takeTrace } from "./trace.ts";

export { MemoryCounter } from "../rivals/memory-object.ts";

const LIMITERS: Record<RivalId, (limit: RivalLimit) => Limiter> = {
  "memory-object": memoryObject,
  "write-through-object": writeThroughObject,
  "cloudflare-binding": cloudflareBinding,
  "hono-rate-limiter": honoRateLimiter,
  "d1-lookup": d1Lookup,
  "rate-limiter-flexible": rateLimiterFlexible,
};

type App = Pick<Hono<{ Bindings: BenchBindings }>, "fetch">;

/** By the first folders of their paths, so that no app searches the routes of another. */
const apps = new Map<string, App>([
  ["/bench/bare", new Hono().get("/bench/bare", (c) => c.json({ ok: true }))],
  [DRIZZLE_ROWS_PATH, drizzleRows],
  ...([REACHED_LIMIT, UNREACHED_LIMIT] as const).flatMap((limit) =>
    RIVAL_IDS.map((id): [string, App] => [`/bench/${limit}/${id}`, rivalApp(id, limit, LIMITERS[id](limit))]),
  ),
]);

let countedEnv: BenchBindings | undefined;

function counted(env: BenchBindings): BenchBindings {
  if (!env.COUNT) return env;
  if (countedEnv) return countedEnv;
  countD1(env.DB);
  countAlarms(RealKeyLimiter);
  countedEnv = {
    ...env,
    KEY_LIMITER: countCalls(env.KEY_LIMITER),
    MEMORY_COUNTER: countCalls(env.MEMORY_COUNTER),
    WRITE_THROUGH_COUNTER: countCalls(env.WRITE_THROUGH_COUNTER),
  };
  return countedEnv;
}

export default {
  fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    if (pathname === "/bench/costs") return Response.json(takeCosts());
    if (pathname === "/bench/trace") return Response.json(takeTrace());
    const app = apps.get(pathname) ?? apps.get(pathname.slice(0, pathname.lastIndexOf("/"))) ?? worker;
    return app.fetch(request, counted(env), ctx);
  },
} satisfies ExportedHandler<BenchBindings>;

export class KeyLimiter extends RealKeyLimiter {
  constructor(ctx: DurableObjectState, env: BenchBindings) {
    if (env.COUNT) countStorage(ctx.storage);
    super(ctx, counted(env));
  }
}

export class WriteThroughCounter extends RealWriteThroughCounter {
  constructor(ctx: DurableObjectState, env: BenchBindings) {
    if (env.COUNT) countStorage(ctx.storage);
    super(ctx, env);
  }
}
