/** The real Worker, with a clock that the test sets and with faults that the test asks for. */
import { env as moduleEnv } from "cloudflare:workers";
import { MAX_KEYS_A_RUN, refreshLimiters } from "../../../src/worker/admin/refresh-limiters.ts";
import { createApp } from "../../../src/worker/app.ts";
import type { Bindings } from "../../../src/worker/context.ts";
import { deleteExpiredRows } from "../../../src/worker/db/retention.ts";
import { KeyLimiter as RealKeyLimiter } from "../../../src/worker/index.ts";
import { isCustomerId } from "../../../src/worker/key/key.ts";
import {
  IDLE_FLUSH_MS,
  IDLE_FLUSH_SPEED,
  INSTRUCTION_HEADER,
  type Instruction,
  type ObjectFault,
  TIMEOUT_SPEED,
  TRACE_HEADER,
  type TraceEvent,
} from "./control.ts";
import {
  databaseOfLimiters,
  failureBy,
  type LimiterMethod,
  limitersDatabase,
  type ObjectInstruction,
  type ObjectResult,
  withFaults,
} from "./faults.ts";

const realNow = Date.now;
let nowMs: number | undefined;
Date.now = () => nowMs ?? realNow();

const realSetTimeout = globalThis.setTimeout;
globalThis.setTimeout = ((handler: () => void, ms = 0) =>
  realSetTimeout(
    handler,
    ms / (ms === IDLE_FLUSH_MS ? IDLE_FLUSH_SPEED : TIMEOUT_SPEED),
  )) as typeof setTimeout; // the Worker passes these two arguments only

if (!("LOGS" in moduleEnv)) {
  console.log = () => {};
  console.error = () => {};
}

/** The app of one isolate. It is made anew when the test restarts the isolate. */
let app = createApp();

// biome-ignore lint/style/noDefaultExport: the runtime looks for the Worker there
export default {
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/__test/"))
      return Response.json((await control(pathname.slice(8), request, env)) ?? null);
    const header = request.headers.get(INSTRUCTION_HEADER);
    if (header === null) return app.fetch(request, env, ctx);
    const instruction = JSON.parse(header) as Instruction; // written by the test from a value of this type
    nowMs = instruction.nowMs + (instruction.skewMs ?? 0);
    const trace: TraceEvent[] = [];
    const response = await withFaults(env, instruction, trace, (faulty) => app.fetch(request, faulty, ctx));
    const headers = new Headers(response.headers);
    headers.set(TRACE_HEADER, JSON.stringify(trace));
    return new Response(response.body, { status: response.status, headers });
  },
} satisfies ExportedHandler<Bindings>;

/** What the test needs beside requests of clients and operators. */
async function control(name: string, request: Request, env: Bindings): Promise<unknown> {
  const body = await request.json<Control>();
  const limiter = (id: string) => env.KEY_LIMITER.getByName(id) as unknown as DurableObjectStub<KeyLimiter>; // this Worker's
  if (body.nowMs !== undefined) nowMs = body.nowMs;
  switch (name) {
    case "sql": {
      const results = await env.DB.batch(
        (body.statements ?? []).map(([sql, ...values]) => env.DB.prepare(sql).bind(...values)),
      );
      return results.map(({ results }) => results);
    }
    case "alarms":
      return runAlarms(body, limiter);
    case "crash":
      return limiter(body.id ?? "")
        .testAbort()
        .then(
          () => null,
          () => null,
        );
    case "restart":
      app = createApp();
      return null;
    case "refresh":
      return (await refreshLimiters(env, "all", MAX_KEYS_A_RUN))?.outdated ?? null;
    case "cron":
      await deleteExpiredRows(env, body.nowMs ?? 0);
      return null;
    default:
      throw new Error(`no control ${name}`);
  }
}

/** Runs the alarms that are due until then, in their order. */
async function runAlarms(
  { nowMs: fromMs = 0, untilMs = 0, ids = [], maxAlarms = 0, reports }: Control,
  limiterOf: (id: string) => DurableObjectStub<KeyLimiter>,
): Promise<void> {
  let atMs = fromMs;
  for (let ran = 0; ran < maxAlarms; ran++) {
    const alarms = await Promise.all(
      ids.map(async (id) => ({
        id,
        dueAtMs: (await limiterOf(id).testAlarmAt()) ?? Number.POSITIVE_INFINITY,
      })),
    );
    const [first] = alarms.filter(({ dueAtMs }) => dueAtMs <= untilMs).sort((a, b) => a.dueAtMs - b.dueAtMs);
    if (!first) break;
    atMs = Math.max(atMs, first.dueAtMs);
    await limiterOf(first.id).testRunAlarm(atMs, reports);
  }
}

type Control = {
  readonly nowMs?: number;
  readonly untilMs?: number;
  readonly maxAlarms?: number;
  readonly id?: string;
  readonly ids?: readonly string[];
  readonly reports?: ObjectInstruction["reports"];
  readonly statements?: readonly (readonly [sql: string, ...values: unknown[]])[];
};

export { OwnerLimiter } from "../../../src/worker/index.ts";

export class KeyLimiter extends RealKeyLimiter {
  #storageFails = false;
  #sharedFault: ObjectFault | undefined;
  #isAskedAgain = false;
  #loadedAtMs: number | undefined;

  constructor(ctx: DurableObjectState, env: Bindings) {
    const { kv } = ctx.storage;
    let fails = () => false;
    const put: typeof kv.put = (key, value) => {
      if (fails()) throw new Error("the storage cannot be written");
      kv.put(key, value);
    };
    const failing = { get: kv.get.bind(kv), list: kv.list.bind(kv), delete: kv.delete.bind(kv), put };
    Object.defineProperty(ctx.storage, "kv", { value: failing });
    let sharedOf = (name: string): object => env.KEY_LIMITER.getByName(name);
    const getByName = (name: string) => sharedOf(name);
    // The limiter uses this member only.
    const KEY_LIMITER = { getByName } as unknown as Bindings["KEY_LIMITER"];
    super(ctx, { ...env, DB: databaseOfLimiters(env.DB), KEY_LIMITER });
    fails = () => this.#storageFails;
    sharedOf = (name) => this.#shared(env.KEY_LIMITER, name);
    // The limiter's row keeps the policy that was loaded last.
    const row = kv.get<{ loaded?: { startedAtMs: number } }>("hono-durable-limiter");
    this.#loadedAtMs = row?.loaded?.startedAtMs;
  }

  override async loadPolicy(id: string) {
    const startedAtMs = Date.now();
    const policy = await super.loadPolicy(id);
    this.#loadedAtMs = startedAtMs;
    return policy;
  }

  /** As the Worker calls the object, with what the test wants. */
  async testCall(
    name: LimiterMethod,
    args: unknown[],
    instruction: ObjectInstruction,
  ): Promise<ObjectResult> {
    this.#obey(instruction);
    const call = async () => {
      // Given by the Worker under test, which calls the method with them.
      const method = this[name] as (...values: unknown[]) => Promise<unknown>;
      return method.apply(this, args);
    };
    const { fault } = instruction;
    if (fault?.startsWith("shared-")) this.#sharedFault = fault;
    const result = await (fault === undefined ? call() : this.#callWith(fault, call));
    const isSharedReset = fault === "shared-reset" && this.#sharedFault === undefined;
    this.#sharedFault = undefined;
    return { result, loadedAtMs: this.#loadedAtMs, isSharedReset };
  }

  /** The limiter of the customer, as this one calls it. */
  #shared(limiters: Bindings["KEY_LIMITER"], name: string): object {
    if (!isCustomerId(name)) return limiters.getByName(name);
    const limiter = limiters.getByName(name) as unknown as DurableObjectStub<KeyLimiter>; // this Worker's
    return {
      inspect: () => limiter.inspect(),
      admitAll: async (calls: Parameters<KeyLimiter["admitAll"]>[0]) => {
        // Who is asked again after a reset answers.
        const fault = this.#isAskedAgain ? undefined : this.#sharedFault;
        this.#sharedFault = undefined;
        this.#isAskedAgain = fault === "shared-reset";
        if (fault === "shared-fail") throw new Error(failureBy(fault));
        const verdicts = await limiter.admitAll(calls);
        if (fault === "shared-lost") throw new Error(failureBy(fault));
        if (fault !== "shared-reset") return verdicts;
        await limiter.testAbort().catch(() => undefined);
        throw Object.assign(new Error(failureBy(fault)), { durableObjectReset: true });
      },
    };
  }

  testAlarmAt(): Promise<number | null> {
    return this.ctx.storage.getAlarm();
  }

  /** As the platform does: the alarm is no longer set while it runs, unless it sets itself again. */
  async testRunAlarm(at: number, reports: ObjectInstruction["reports"]): Promise<void> {
    this.#obey({ nowMs: at, reports });
    await this.ctx.storage.deleteAlarm();
    await this.alarm();
  }

  async testAbort(): Promise<void> {
    this.ctx.abort("the test resets the object");
  }

  #obey({ nowMs: at, reports, policies }: ObjectInstruction): void {
    nowMs = at;
    if (reports !== undefined) limitersDatabase.reports = reports;
    if (policies !== undefined) limitersDatabase.policies = policies;
  }

  async #callWith(fault: ObjectFault, call: () => Promise<unknown>): Promise<unknown> {
    if (fault.startsWith("shared-")) return call();
    if (fault === "throw-before") throw new Error(failureBy(fault));
    if (fault === "reset-before") this.ctx.abort(failureBy(fault));
    if (fault === "storage") return this.#callWithoutStorage(call);
    const result = await call();
    if (fault === "throw-after") throw new Error(failureBy(fault));
    this.ctx.abort(failureBy(fault));
    return result;
  }

  /** With the policy in memory the call decides at once, before it waits for anything. */
  async #callWithoutStorage(call: () => Promise<unknown>): Promise<unknown> {
    await this.inspect();
    this.#storageFails = true;
    const result = call();
    this.#storageFails = false;
    return result.catch(() => {
      throw new Error(failureBy("storage"));
    });
  }
}
