/** Puts faults between the real Worker and D1, and between the real Worker and its limiters. */
import type { Bindings } from "../../../src/worker/context.ts";
import type { Verdict } from "../../../src/worker/limiter/core/decide.ts";
import {
  type CallFault,
  D1_MESSAGES,
  type D1Fault,
  type Faults,
  type Instruction,
  type ObjectFault,
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

/** D1, each call of which asks whether a fault strikes it. */
function faultyDatabase(db: D1Database, strikeOf: (sql: string) => Strike): D1Database {
  const originals = new WeakMap<object, { statement: D1PreparedStatement; sql: string }>();
  const run = async <T>(sql: string, execute: () => Promise<T>): Promise<T> => {
    const strike = strikeOf(sql);
    if (strike?.kind === "fail") throw new Error(strike.message);
    if (strike?.kind === "slow") await realPause(SLOW_MS);
    if (strike?.kind === "late") await realPause(LATE_MS);
    const result = await execute();
    if (strike?.kind === "lost") throw new Error(strike.message);
    return result;
  };
  const wrap = (statement: D1PreparedStatement, sql: string): D1PreparedStatement => {
    const wrapped = {
      bind: (...values: unknown[]) => wrap(statement.bind(...values), sql),
      all: () => run(sql, () => statement.all()),
      run: () => run(sql, () => statement.run()),
      raw: () => run(sql, () => statement.raw()),
      first: () => run(sql, () => statement.first()),
    };
    originals.set(wrapped, { statement, sql });
    return wrapped as unknown as D1PreparedStatement; // drizzle and the Worker use these members only
  };
  const batch = (statements: D1PreparedStatement[]) => {
    const unwrapped = statements.map((each) => originals.get(each) ?? { statement: each, sql: "" });
    return run(unwrapped.map(({ sql }) => sql).join(";"), () =>
      db.batch(unwrapped.map(({ statement }) => statement)),
    );
  };
  // The Worker uses these two members only, as there is no read replication in this test.
  return { prepare: (sql: string) => wrap(db.prepare(sql), sql), batch } as unknown as D1Database;
}

export const isWrite = (sql: string) => /\b(insert|update|delete)\b/i.test(sql);

/** How D1 answers the limiters' reports. */
export const reports: { fault: ReportFault } = { fault: "none" };

export function reportDatabase(db: D1Database): D1Database {
  return faultyDatabase(db, () =>
    reports.fault === "none" ? undefined : { kind: reports.fault, message: D1_MESSAGES[0] },
  );
}

/** A call of an object carries the test's time, and the fault of the object. */
export type ObjectInstruction = {
  readonly nowMs: number;
  readonly fault?: ObjectFault | undefined;
  readonly reports?: ReportFault | undefined;
};

export function faultyBindings(env: Bindings, instruction: Instruction, trace: TraceEvent[]): Bindings {
  return {
    ...env,
    DB: faultyDatabase(env.DB, d1StrikeOf(instruction, trace)),
    KEY_LIMITER: faultyLimiters(env.KEY_LIMITER, instruction, trace),
    ...instruction.vars,
  };
}

/** Each read of D1 takes SLOW_MS. */
export function withSlowReads(env: Bindings): Bindings {
  const strikeOf = (sql: string): Strike => (isWrite(sql) ? undefined : { kind: "slow", message: "" });
  return { ...env, DB: faultyDatabase(env.DB, strikeOf) };
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

/** The members of a stub that the Worker calls. */
type Stub = Record<string, (...args: unknown[]) => Promise<unknown>>;

function faultyLimiters(
  limiters: Bindings["KEY_LIMITER"],
  instruction: Instruction,
  trace: TraceEvent[],
): Bindings["KEY_LIMITER"] {
  const planned = instruction.call;
  let calls = 0;
  let objectFault = instruction.object;
  const call = async (name: string, stub: Stub, args: unknown[]) => {
    const on = name === "admit" ? "admit" : "other-call";
    const fault = planned && calls++ === planned.skip ? planned.kind : undefined;
    const report = (event: { fault?: CallFault | "thrown"; isStale?: boolean }) =>
      trace.push({ on, ...event });
    if (fault === "fail" || fault === "fail-retryable") {
      report({ fault });
      throw lostCall(fault === "fail-retryable");
    }
    if (fault === "hang") {
      report({ fault });
      return new Promise(() => {});
    }
    const given: ObjectInstruction = {
      nowMs: instruction.nowMs,
      reports: instruction.reports,
      fault: on === "admit" ? objectFault : undefined,
    };
    if (on === "admit") objectFault = undefined;
    let result: unknown;
    try {
      result = await stub[name]?.(...args, given);
    } catch (thrown) {
      report({ fault: "thrown" });
      throw thrown;
    }
    const isStale = on === "admit" && (result as Verdict).kind === "stale"; // the type of what admit returns
    report({ ...(fault === undefined ? {} : { fault }), ...(isStale ? { isStale } : {}) });
    if (fault === "lost" || fault === "lost-retryable") throw lostCall(fault === "lost-retryable");
    if (fault === "hang-lost") return new Promise(() => {});
    return result;
  };
  const getByName = (name: string, options?: DurableObjectNamespaceGetDurableObjectOptions) => {
    const stub = limiters.getByName(name, options) as unknown as Stub; // called by name
    const methods = ["admit", "raiseMinVersion", "raiseBookmark", "inspect"];
    return Object.fromEntries(
      methods.map((method) => [method, (...args: unknown[]) => call(method, stub, args)]),
    );
  };
  return { getByName } as unknown as Bindings["KEY_LIMITER"]; // the Worker uses this member only
}

function lostCall(retryable: boolean): Error {
  return Object.assign(new Error("the connection to the object was lost"), { retryable });
}
