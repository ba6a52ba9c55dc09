/** Shared by the tests in workerd: an app as one isolate, its bindings and log, and the limiter's object, clock and cost. */
import { abortAllDurableObjects, createExecutionContext, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, type MockInstance, vi } from "vitest";
import { createApp } from "../../src/worker/app.ts";
import { mintKey } from "../../src/worker/auth/key-format.ts";
import type { Bindings } from "../../src/worker/context.ts";
import { type Ban, NO_OVERRIDE } from "../../src/worker/limiter/core/ban.ts";
import type { Call, KeyPolicy, Verdict } from "../../src/worker/limiter/core/decide.ts";
import type { LimiterState } from "../../src/worker/limiter/core/limiter-state.ts";
import type { Limits } from "../../src/worker/limiter/core/quota.ts";
import type { KeyLimiter } from "../../src/worker/limiter/key-limiter.ts";

export const LIST = "/v1/store/orders";

/** Sends a request to one app, which has the caches of one isolate. Two apps share D1 and the limiters, nothing else. */
export type App = (
  path: string,
  init?: RequestInit & { key?: string; bindings?: Partial<Bindings>; origin?: string },
) => Promise<Response>;

/** `waitUntil` gets the promises that the app passes to the platform's `waitUntil`. */
export function startApp(
  replaced: Partial<Bindings> = {},
  waitUntil: (promise: Promise<unknown>) => void = () => {},
): App {
  const app = createApp();
  const bindings: Bindings = { ...env, ...replaced };
  return async (path, { key, bindings: once = {}, origin = "https://orders.example", ...init } = {}) => {
    const headers = new Headers(init.headers);
    if (key !== undefined) headers.set("Authorization", `Bearer ${key}`);
    const request = new Request(`${origin}${path}`, { ...init, headers });
    const ctx = createExecutionContext();
    vi.spyOn(ctx, "waitUntil").mockImplementation(waitUntil);
    return app.fetch(request, { ...bindings, ...once }, ctx);
  };
}

export type WatchedDatabase = {
  readonly DB: D1Database;
  /** The SQL of every query since the last call, in order. */
  queries(): string[];
  /** From now on, queries whose SQL matches fail with this message; undefined: they work again. */
  failWith(message: string | undefined, sql?: RegExp): void;
};

/** The real D1, whose queries are recorded and can be made to fail. */
export function watchDatabase(): WatchedDatabase {
  let recorded: string[] = [];
  let failure: { message: string; sql: RegExp } | undefined;
  const prepare = (sql: string) => {
    recorded.push(sql);
    return failure?.sql.test(sql) ? failingStatement(failure.message) : env.DB.prepare(sql);
  };
  const batch = async (statements: D1PreparedStatement[]) => {
    const failing = statements.find((statement) => failingStatements.has(statement));
    return failing ? failing.all() : env.DB.batch(statements);
  };
  return {
    // The app uses these two members. A use of any other member would throw.
    DB: { prepare, batch } as unknown as D1Database,
    queries() {
      const since = recorded;
      recorded = [];
      return since;
    },
    failWith(message, sql = /./) {
      failure = message === undefined ? undefined : { message, sql };
    },
  };
}

const failingStatements = new WeakSet<D1PreparedStatement>();

function failingStatement(message: string): D1PreparedStatement {
  const fail = async () => {
    throw new Error(message);
  };
  const statement = { bind: () => statement, all: fail, raw: fail, run: fail, first: fail };
  // drizzle and the app use these members only.
  const failing = statement as unknown as D1PreparedStatement;
  failingStatements.add(failing);
  return failing;
}

/** The real limiters. Records the names and location hints of those that are addressed. */
export function watchLimiters() {
  let names: string[] = [];
  const locationHints: (string | undefined)[] = [];
  const getByName = (name: string, options?: DurableObjectNamespaceGetDurableObjectOptions) => {
    names.push(name);
    locationHints.push(options?.locationHint);
    return env.KEY_LIMITER.getByName(name, options);
  };
  return {
    // The app addresses limiters by name only.
    KEY_LIMITER: { getByName } as unknown as Bindings["KEY_LIMITER"],
    /** Since the last call. */
    addressed(): string[] {
      const since = names;
      names = [];
      return since;
    },
    locationHints: () => locationHints,
  };
}

export type LogLine = Record<string, unknown> & { event: string };

/** Silences the console and keeps its lines, parsed. Undone by `restore`, or by vitest's `restoreMocks`. */
export function captureLog(): { lines(): LogLine[]; text(): string; restore(): void } {
  const written: string[] = [];
  const keep = (line: unknown) => void written.push(String(line));
  const spies: MockInstance[] = [
    vi.spyOn(console, "log").mockImplementation(keep),
    vi.spyOn(console, "error").mockImplementation(keep),
  ];
  return {
    lines: () => written.map((line) => JSON.parse(line)),
    text: () => written.join("\n"),
    restore: () => {
      for (const spy of spies) spy.mockRestore();
    },
  };
}

export const FREE = { perMinute: 60, perDay: 1_000 };
export const PRO = { perMinute: 300, perDay: 10_000 };
export const BUSINESS = { perMinute: 1_000, perDay: 100_000 };

export type Limiter = DurableObjectStub<KeyLimiter>;

export function limiterOf(keyId: string): Limiter {
  return env.KEY_LIMITER.getByName(keyId);
}

export function freshLimiter(): Limiter {
  return limiterOf(`key_${crypto.randomUUID()}`);
}

/** Sets the clock of the Worker and of its objects; timers stay real. Use a time far in the future, or alarms would run. */
export function setClock(atMs: number): void {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(atMs);
}

/** Before each test of the file: captures the log and sets the clock. After it: restores both, and every mock. */
export function startEachTestAt(atMs: number): void {
  beforeEach(() => {
    captureLog();
    setClock(atMs);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
}

export function policyOf(limits: Limits): KeyPolicy {
  return { limits, ...NO_OVERRIDE };
}

/** One `admit` call, sent now. */
export function admit(limiter: Limiter, limits: Limits, details: Partial<Call> = {}): Promise<Verdict> {
  const call = {
    keyId: limiter.name ?? "",
    version: 1,
    sentAtMs: Date.now(),
    ...policyOf(limits),
    ...details,
  };
  return limiter.admit(call);
}

/** Calls `admit` `count` times at once, and counts the verdicts by kind. */
export async function admitAtOnce(
  limiter: Limiter,
  limits: Limits,
  count: number,
): Promise<Record<string, number>> {
  const calls = Array.from({ length: count }, () => admit(limiter, limits));
  return countOf((await Promise.all(calls)).map((verdict) => verdict.kind));
}

/** A well-formed key that nobody has. */
export function guess(): string {
  return mintKey((count) => crypto.getRandomValues(new Uint8Array(count)));
}

export function countOf(values: readonly (string | number)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

/** What the limiter has stored; undefined when it has no table. */
export function storedState(limiter: Limiter): Promise<LimiterState | undefined> {
  return runInDurableObject(limiter, (_, { storage }) => {
    const tables = storage.sql.exec("select 1 from sqlite_master where name = 'limiter_state'").toArray();
    if (tables.length === 0) return undefined;
    const { state } = storage.sql.exec<{ state: string }>("select state from limiter_state").one();
    return JSON.parse(state) as LimiterState; // only LimiterStorage writes this row
  });
}

/** Waits, in real time, until the condition is true. */
export async function eventually(isTrue: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 250; tries++) {
    if (await isTrue()) return;
    await pause(20);
  }
  throw new Error("the condition was not true within 5 s");
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits until the acknowledgement of the day's first report is stored. */
export function firstReport(limiter: Limiter): Promise<void> {
  const dayStartMs = Math.floor(Date.now() / 86_400_000) * 86_400_000;
  return eventually(async () => (await storedState(limiter))?.reportedDayStartMs === dayStartMs);
}

/** Destroys the object at once: what it had not stored is lost. Returns a new stub, because the old one is broken. */
export async function crash(limiter: Limiter): Promise<Limiter> {
  await abortAllDurableObjects();
  return env.KEY_LIMITER.get(limiter.id);
}

/** Waits until the idle flush after a burst has stored the exact counts. */
export async function idleFlush(limiter: Limiter): Promise<void> {
  const laterMs = Date.now() + 1;
  setClock(laterMs);
  await eventually(async () => (await storedState(limiter))?.savedAtMs === laterMs);
}

/** A ban that an operator set now. */
export function operatorBan(lengthMs: number): Ban {
  const startedAtMs = Date.now();
  const endsAtMs = Math.ceil((startedAtMs + lengthMs) / 1_000) * 1_000;
  const id = `ban_${crypto.randomUUID()}`;
  return { id, cause: "operator", reason: "testing", strikes: 0, startedAtMs, endsAtMs };
}

/** A limiter that had a request a minute ago, so that the day's first report and alarm are done. */
export async function limiterInUse(): Promise<Limiter> {
  const nowMs = Date.now();
  const limiter = freshLimiter();
  setClock(nowMs - 60_000);
  await admit(limiter, FREE);
  await firstReport(limiter);
  setClock(nowMs);
  return limiter;
}

/** Rows written by any object while `body` runs, as the platform counts them, and one for each alarm that is set. */
export async function rowsWrittenBy(body: () => Promise<unknown>): Promise<number> {
  let rows = 0;
  const spies = await runInDurableObject(limiterOf("any"), (_, state) => {
    const sql: SqlStorage = Object.getPrototypeOf(state.storage.sql);
    const exec = sql.exec;
    const storage: DurableObjectStorage = Object.getPrototypeOf(state.storage);
    const setAlarm = storage.setAlarm;
    return [
      vi.spyOn(sql, "exec").mockImplementation(function (this: SqlStorage, ...args) {
        const cursor = exec.apply(this, args);
        rows += cursor.rowsWritten;
        return cursor;
      }),
      vi.spyOn(storage, "setAlarm").mockImplementation(function (this: DurableObjectStorage, ...args) {
        rows++;
        return setAlarm.apply(this, args);
      }),
    ];
  });
  try {
    await body();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return rows;
}
