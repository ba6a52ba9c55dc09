/** The real Worker and the routes that it is compared with, in one isolate. With COUNT set, it counts what requests cost. */
import { Hono } from "hono";
import worker, { KeyLimiter as RealKeyLimiter } from "../../../src/worker/index.ts";
import { memoryObject } from "../rivals/memory-object.ts";
import type { BenchBindings } from "./bindings.ts";
import { takeCosts } from "./costs.ts";
import { countAlarms, countCalls, countD1, countStorage } from "./counting.ts";

export { MemoryCounter } from "../rivals/memory-object.ts";

const bare = new Hono().get("/bench/bare", (c) => c.json({ ok: true }));

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
  };
  return countedEnv;
}

// biome-ignore lint/style/noDefaultExport: the runtime looks for the Worker there
export default {
  fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    if (pathname === "/bench/costs") return Response.json(takeCosts());
    if (pathname === "/bench/bare") return bare.fetch(request, env, ctx);
    if (pathname === "/bench/memory-object") return memoryObject.fetch(request, counted(env), ctx);
    return worker.fetch(request, counted(env), ctx);
  },
} satisfies ExportedHandler<BenchBindings>;

export class KeyLimiter extends RealKeyLimiter {
  constructor(ctx: DurableObjectState, env: BenchBindings) {
    if (env.COUNT) countStorage(ctx.storage);
    super(ctx, counted(env));
  }
}
