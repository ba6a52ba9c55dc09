/** Puts faults between the real Worker and D1, and between the real Worker and its limiters. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Verdict } from "hono-durable-limiter";
import type { Bindings } from "../../../src/worker/context.ts";
import type { KeyLimiterBase } from "../../../src/worker/key/key-limiter.ts";
import { wrapDatabase } from "../../support/wrap-database.ts";
import {
  D1_MESSAGES,
  type D1Fault,
  type Faults,
  type Instruction,
  type LostVerdict,
  OBJECT_FAULTS,
  type ObjectFault,
  type PolicyFault,
  type ReportFault,
  type TraceEvent,
} from "./control.ts";

const SLOW_MS = 20;
/** Later than the Worker waits for a lookup: 3 s, at TIMEOUT_SPEED. */
const LATE_MS = 1_700;

/** Timers of the platform, which the Worker's are not. */
const realSetTimeout = globalThis.setTimeout;

export function realPause(ms: number): Promise<void> {
  return new Promise((resolve) => realSetTimeout(resolve, ms));
}

type Strike = { readonly kind: D1Fault; readonly message: string } | undefined;

/** D1, each call of which asks whether a fault strikes it. Its clock is the test's. */
function faultyDatabase(db: D1Database, nowMs: () => number, strikeOf: (sql: string) => Strike): D1Database {
  const onTime = {
    prepare: (sql: string) => db.prepare(sql.replaceAll("unixepoch()", `${Math.floor(nowMs() / 1000)}`)),
    batch: <Row>(statements: D1PreparedStatement[]) => db.batch<Row>(statements),
  };
  return wrapDatabase(onTime, async (sql, run) => {
    const strike = strikeOf(sql.join(";"));
    if (strike?.kind === "fail") throw new Error(strike.message);
    if (strike?.kind === "slow") await realPause(SLOW_MS);
    if (strike?.kind === "late") await realPause(LATE_MS);
    const result = await run();
    if (strike?.kind === "lost") throw new Error(strike.message);
    return result;
  });
}

export const isWrite = (sql: string) => /\b(insert|update|delete)\b/i.test(sql);

/** How D1 answers the limiters. */
export const limitersDatabase: { reports: ReportFault; policies: PolicyFault } = {
  reports: "none",
  policies: "none",
};

/** D1 as the limiters' objects have it. */
export function databaseOfLimiters(db: D1Database): D1Database {
  return faultyDatabase(db, Date.now, (sql) => {
    const { reports, policies } = limitersDatabase;
    const kind = sql.includes("limiters") ? policies : reports;
    return kind === "none" ? undefined : { kind, message: D1_MESSAGES[0] };
  });
}

/** A call of an object carries the test's time, and the fault of the object. */
export type ObjectInstruction = {
  readonly nowMs: number;
  readonly fault?: ObjectFault | undefined;
  readonly reports?: ReportFault | undefined;
  readonly policies?: PolicyFault | undefined;
};

/** What a call of an object returns. */
export type ObjectResult = {
  readonly result: unknown;
  readonly loadedAtMs: number | undefined;
  readonly isSharedReset: boolean;
};

/** What the object says when it is made to fail. */
export const failureBy = (fault: ObjectFault) => `the test lets the object fail: ${fault}.`;

/** A request, as its calls of a limiter know it. */
type Current = {
  readonly instruction: Instruction;
  readonly trace: TraceEvent[];
  calls: number;
  objectFault: ObjectFault | undefined;
};

const current = new AsyncLocalStorage<Current>();

/** Runs a request with the faults of its instruction. */
export function withFaults<T>(
  env: Bindings,
  instruction: Instruction,
  trace: TraceEvent[],
  run: (env: Bindings) => T,
): T {
  const strikeOf = d1StrikeOf(instruction, trace);
  const bindings = {
    ...env,
    DB: faultyDatabase(env.DB, () => instruction.nowMs, strikeOf),
    KEY_LIMITER: limitersOf(env),
    ...instruction.vars,
  };
  return current.run({ instruction, trace, calls: 0, objectFault: instruction.object }, () => run(bindings));
}

const limitersByNamespace = new WeakMap<Bindings["KEY_LIMITER"], Bindings["KEY_LIMITER"]>();

/** Requests share a call only if they have the same namespace. */
function limitersOf({ KEY_LIMITER }: Bindings): Bindings["KEY_LIMITER"] {
  const known = limitersByNamespace.get(KEY_LIMITER) ?? faultyLimiters(KEY_LIMITER);
  limitersByNamespace.set(KEY_LIMITER, known);
  return known;
}

function d1StrikeOf({ d1 }: Faults, trace: TraceEvent[]): (sql: string) => Strike {
  let calls = 0;
  return (sql) => {
    if (d1 === undefined) return undefined;
    const call = calls++;
    if (call < d1.skip || call >= d1.skip + d1.times) return undefined;
    trace.push({ on: "d1", fault: d1.kind, isWrite: isWrite(sql) });
    return { kind: d1.kind, message: D1_MESSAGES[d1.error % D1_MESSAGES.length] ?? D1_MESSAGES[0] };
  };
}

/** What the Worker calls of a limiter. */
export const LIMITER_METHODS = ["admit", "admitAll", "forget", "inspect", "flush", "listUnreported"] as const;
export type LimiterMethod = (typeof LIMITER_METHODS)[number];

/** The object of this test's class. */
type Stub = Pick<KeyLimiterBase, "noteUnreported"> & {
  testCall(name: LimiterMethod, args: unknown[], instruction: ObjectInstruction): Promise<ObjectResult>;
};

function faultyLimiters(limiters: Bindings["KEY_LIMITER"]): Bindings["KEY_LIMITER"] {
  const call = async (name: LimiterMethod, stub: Stub, args: unknown[]) => {
    const request = current.getStore();
    if (request === undefined) throw new Error("a limiter was called by no request");
    const { instruction, trace } = request;
    const { call: planned, nowMs, reports, policies } = instruction;
    if (name === "admitAll" && instruction.isEarlier)
      throw new TypeError('The RPC receiver does not implement the method "admitAll".');
    const isAdmission = name === "admit" || name === "admitAll";
    const requests = name === "admitAll" ? (args[0] as readonly unknown[]).length : 1; // its calls
    const event = { on: isAdmission ? "admit" : "other-call", requests } as const;
    const fault = planned && request.calls++ === planned.skip ? planned.kind : undefined;
    if (fault === "fail" || fault === "fail-reset") {
      trace.push({ ...event, fault });
      throw lostCall(fault === "fail-reset");
    }
    if (fault === "hang") {
      trace.push({ ...event, fault });
      return new Promise(() => {});
    }
    const given = { nowMs, reports, policies, fault: isAdmission ? request.objectFault : undefined };
    if (isAdmission) request.objectFault = undefined;
    let answer: ObjectResult;
    try {
      answer = await stub.testCall(name, args, given);
    } catch (thrown) {
      const by = OBJECT_FAULTS.find((each) => String(thrown).includes(failureBy(each)));
      trace.push({ ...event, fault: "thrown", by });
      throw thrown;
    }
    const { result, loadedAtMs, isSharedReset } = answer;
    if (fault === undefined) {
      trace.push({ ...event, loadedAtMs, isSharedReset });
      return result;
    }
    trace.push({
      ...event,
      fault,
      loadedAtMs,
      isSharedReset,
      lost: isAdmission ? [result].flat().map(lostOf) : [],
    });
    if (fault === "hang-lost") return new Promise(() => {});
    throw lostCall(fault === "lost-reset");
  };
  const getByName = (name: string, options?: DurableObjectNamespaceGetDurableObjectOptions) => {
    const stub = limiters.getByName(name, options) as unknown as Stub; // the class below in index.ts
    return {
      ...Object.fromEntries(
        LIMITER_METHODS.map((method) => [method, (...args: unknown[]) => call(method, stub, args)]),
      ),
      // After the answer, so without a trace.
      noteUnreported: (key: Parameters<Stub["noteUnreported"]>[0]) => stub.noteUnreported(key),
    };
  };
  return { getByName } as unknown as Bindings["KEY_LIMITER"]; // the Worker uses this member only
}

function lostOf(verdict: unknown): LostVerdict {
  const { kind, ...decided } = verdict as Verdict; // of the method `admit` or `admitAll`
  const quota = "quota" in decided ? decided.quota : [];
  const by = "window" in decided ? decided.window.name : undefined;
  return { kind, by, dayRemaining: quota.find(({ name }) => name === "day")?.remaining ?? 0 };
}

function lostCall(durableObjectReset: boolean): Error {
  return Object.assign(new Error("the connection to the object was lost"), { durableObjectReset });
}
