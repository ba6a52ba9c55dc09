/** The real Worker and a bare Hono route in one isolate. With COUNT set, it also counts what requests cost. */
import { Hono } from "hono";
import type { Bindings } from "../../src/worker/context.ts";
import worker, { KeyLimiter as RealKeyLimiter } from "../../src/worker/index.ts";

type BenchBindings = Bindings & { readonly COUNT?: string };

export type Costs = { d1Queries: number; objectCalls: number; rowsWritten: number };

let costs: Costs = { d1Queries: 0, objectCalls: 0, rowsWritten: 0 };
let countedEnv: BenchBindings | undefined;
let isStorageCounted = false;

const app = new Hono<{ Bindings: BenchBindings }>()
  .get("/bare", (c) => c.json({ ok: true }))
  .get("/costs", (c) => {
    const sinceLast = costs;
    costs = { d1Queries: 0, objectCalls: 0, rowsWritten: 0 };
    return c.json(sinceLast);
  })
  .all("*", (c) => worker.fetch(c.req.raw, counted(c.env), c.executionCtx));

// biome-ignore lint/style/noDefaultExport: the runtime looks for the Worker there
export default app;

export class KeyLimiter extends RealKeyLimiter {
  constructor(ctx: DurableObjectState, env: BenchBindings) {
    if (env.COUNT) countRows(ctx.storage);
    super(ctx, counted(env));
  }
}

function counted(env: BenchBindings): BenchBindings {
  if (!env.COUNT) return env;
  countedEnv ??= {
    ...env,
    DB: observe(env.DB, "prepare", () => costs.d1Queries++),
    KEY_LIMITER: observe(env.KEY_LIMITER, "getByName", () => costs.objectCalls++),
  };
  return countedEnv;
}

/** The binding. `onCalled` runs at each call of `method`. */
function observe<T extends object>(binding: T, method: keyof T, onCalled: () => void): T {
  return new Proxy(binding, {
    get(target, name) {
      if (name === method) onCalled();
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** Patches the prototypes, so that every object of the isolate counts. An alarm that is set is billed as a row. */
function countRows(storage: DurableObjectStorage): void {
  if (isStorageCounted) return;
  isStorageCounted = true;
  const sqlPrototype: SqlStorage = Object.getPrototypeOf(storage.sql);
  const exec = sqlPrototype.exec;
  sqlPrototype.exec = function (...args) {
    const cursor = exec.apply(this, args);
    costs.rowsWritten += cursor.rowsWritten;
    return cursor as ReturnType<typeof exec<never>>; // the caller's row type, which `apply` cannot carry
  };
  const storagePrototype: DurableObjectStorage = Object.getPrototypeOf(storage);
  const setAlarm = storagePrototype.setAlarm;
  storagePrototype.setAlarm = function (...args) {
    costs.rowsWritten++;
    return setAlarm.apply(this, args);
  };
}
