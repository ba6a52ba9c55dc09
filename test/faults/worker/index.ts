/** The real Worker, with a clock that the test sets and with faults that the test asks for. Never deployed. */
import { env as moduleEnv } from "cloudflare:workers";
import { createApp } from "../../../src/worker/app.ts";
import type { Bindings } from "../../../src/worker/context.ts";
import type { Call, KeyPolicy, Verdict } from "../../../src/worker/limiter/core/decide.ts";
import { IDLE_FLUSH_MS } from "../../../src/worker/limiter/core/reservation.ts";
import { KeyLimiter as RealKeyLimiter } from "../../../src/worker/limiter/key-limiter.ts";
import { deleteExpiredRows } from "../../../src/worker/retention.ts";
import { sumUsageOfYesterday } from "../../../src/worker/sum-usage.ts";
import {
  IDLE_FLUSH_SPEED,
  INSTRUCTION_HEADER,
  type Instruction,
  type ObjectFault,
  type RunAlarm,
  TIMEOUT_SPEED,
  TRACE_HEADER,
  type TraceEvent,
} from "./control.ts";
import { faultyBindings, type ObjectInstruction, reportDatabase, reports, withSlowReads } from "./faults.ts";

const realNow = Date.now;
let nowMs: number | undefined;
Date.now = () => nowMs ?? realNow();

const realSetTimeout = globalThis.setTimeout;
// The load run needs the timeouts of production.
if (!("REAL_TIMERS" in moduleEnv))
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
    if (header === null) return app.fetch(request, "SLOW_READS" in env ? withSlowReads(env) : env, ctx);
    const instruction = JSON.parse(header) as Instruction; // written by the test from a value of this type
    nowMs = instruction.nowMs + (instruction.skewMs ?? 0);
    const trace: TraceEvent[] = [];
    const response = await app.fetch(request, faultyBindings(env, instruction, trace), ctx);
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
    case "cron":
      await sumUsageOfYesterday(env, body.nowMs ?? 0);
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
): Promise<RunAlarm[]> {
  const ran: RunAlarm[] = [];
  while (ran.length < maxAlarms) {
    const alarms = await Promise.all(
      ids.map(async (id) => ({ id, atMs: await limiterOf(id).testAlarmAt() })),
    );
    const due = alarms.flatMap(({ id, atMs }) => (atMs !== null && atMs <= untilMs ? [{ id, atMs }] : []));
    const [first] = due.sort((a, b) => a.atMs - b.atMs);
    if (!first) break;
    const atMs = Math.max(fromMs, first.atMs, ran.at(-1)?.atMs ?? 0);
    const isForgotten = await limiterOf(first.id).testRunAlarm(atMs, reports);
    ran.push({ id: first.id, atMs, isForgotten });
  }
  return ran;
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

export class KeyLimiter extends RealKeyLimiter {
  #storageFails = false;

  constructor(ctx: DurableObjectState, env: Bindings) {
    const { sql } = ctx.storage;
    const exec = sql.exec.bind(sql);
    let fails = () => false;
    // The real class uses it as a function of a query and values.
    sql.exec = ((query: string, ...values: unknown[]) => {
      if (fails() && query.startsWith("insert")) throw new Error("the storage cannot be written");
      return exec(query, ...values);
    }) as typeof sql.exec;
    super(ctx, { ...env, DB: reportDatabase(env.DB) });
    fails = () => this.#storageFails;
  }

  override admit(call: Call, instruction?: ObjectInstruction) {
    this.#obey(instruction);
    return this.#withFault(instruction?.fault, () => super.admit(call));
  }

  override raiseMinVersion(keyId: string, version: number, instruction?: ObjectInstruction) {
    this.#obey(instruction);
    super.raiseMinVersion(keyId, version);
  }

  override inspect(policy: KeyPolicy, instruction?: ObjectInstruction) {
    this.#obey(instruction);
    return super.inspect(policy);
  }

  testAlarmAt(): Promise<number | null> {
    return this.ctx.storage.getAlarm();
  }

  /** As the platform does: the alarm is no longer set while it runs, unless it sets itself again. */
  async testRunAlarm(at: number, fault: ObjectInstruction["reports"]): Promise<boolean> {
    this.#obey({ nowMs: at, reports: fault });
    await this.ctx.storage.deleteAlarm();
    await this.alarm();
    return this.#isEmpty();
  }

  #isEmpty(): boolean {
    const tables = this.ctx.storage.sql
      .exec("select 1 from sqlite_master where name = 'limiter_state'")
      .toArray();
    return (
      tables.length === 0 || this.ctx.storage.sql.exec("select 1 from limiter_state").toArray().length === 0
    );
  }

  async testAbort(): Promise<void> {
    this.ctx.abort("the test resets the object");
  }

  #obey(instruction: ObjectInstruction | undefined): void {
    if (!instruction) return;
    nowMs = instruction.nowMs;
    if (instruction.reports !== undefined) reports.fault = instruction.reports;
  }

  #withFault(fault: ObjectFault | undefined, run: () => Verdict): Verdict {
    if (fault === "throw-before") throw new Error("the object fails before it counts");
    if (fault === "reset-before") this.ctx.abort("the object is reset before it counts");
    this.#storageFails = fault === "storage";
    try {
      const result = run();
      if (result.kind === "stale") return result;
      if (fault === "throw-after") throw new Error("the object fails after it has counted");
      if (fault === "reset-after") this.ctx.abort("the object is reset after it has counted");
      return result;
    } finally {
      this.#storageFails = false;
    }
  }
}
