/** For the tests in workerd: an app as one isolate, its bindings, log and clock, and what limiters load. */
import { createExecutionContext, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, vi } from "vitest";
import { createApp } from "../../src/worker/app.ts";
import type { Bindings } from "../../src/worker/context.ts";
import worker from "../../src/worker/index.ts";
import type { KeyLimiterBase } from "../../src/worker/key/key-limiter.ts";
import { KEEPER } from "../../src/worker/key/unreported-keys.ts";
import { wrapDatabase } from "./wrap-database.ts";

export const LIST = "/v1/store/orders";

/** Sends a request to one app, which has the caches of one isolate. Two apps share D1 and the limiters. */
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
    const ctx = Object.defineProperty(createExecutionContext(), "waitUntil", { value: waitUntil });
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
  const DB = wrapDatabase(env.DB, async (sql, run) => {
    recorded.push(...sql);
    if (failure && sql.some((each) => failure?.sql.test(each))) throw new Error(failure.message);
    return run();
  });
  return {
    DB,
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

/** Limiters by name. Each needs the methods that the test's calls reach. The list of unreported keys is the real one. */
export function limiters(
  getByName: (name: string, options?: DurableObjectNamespaceGetDurableObjectOptions) => object,
): Bindings["KEY_LIMITER"] {
  const byName: typeof getByName = (name, options) =>
    name === KEEPER ? env.KEY_LIMITER.getByName(name) : getByName(name, options);
  return { getByName: byName } as unknown as Bindings["KEY_LIMITER"]; // the Worker addresses limiters by name only
}

/** The real limiters. Records the names and location hints of those that are addressed. */
export function watchLimiters() {
  let names: string[] = [];
  const locationHints: (string | undefined)[] = [];
  return {
    KEY_LIMITER: limiters((name, options) => {
      names.push(name);
      locationHints.push(options?.locationHint);
      return env.KEY_LIMITER.getByName(name, options);
    }),
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

const written: string[] = [];

/** What the Worker has logged since the test began. */
export const log = {
  lines: (): LogLine[] => written.map((line) => JSON.parse(line)),
  text: (): string => written.join("\n"),
};

/** Keeps the lines of the console, and shows none of them. Undone by `restoreAllMocks`. */
export function captureLog(): void {
  written.length = 0;
  const keep = (line: unknown) => void written.push(String(line));
  vi.spyOn(console, "log").mockImplementation(keep);
  vi.spyOn(console, "error").mockImplementation(keep);
}

/** The cron of each minute. */
export function runMinuteCron(replaced: Partial<Bindings> = {}): Promise<void> {
  return worker.scheduled(
    { scheduledTime: 0, cron: "* * * * *", noRetry: () => undefined },
    { ...env, ...replaced },
  );
}

export function limiterOf(keyId: string): DurableObjectStub<KeyLimiterBase> {
  return env.KEY_LIMITER.getByName(keyId);
}

/** Sets the clock; timers stay real. Use a time far in the future, or alarms would run. */
export function setClock(atMs: number): void {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime(atMs);
}

/** Sets the clock before each test of the file. */
export function startEachTestAt(atMs: number): void {
  beforeEach(() => setClock(atMs));
}

export function countOf(values: readonly (string | number)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Rows that the key's object writes while `body` runs, one for each alarm included. */
export async function rowsWrittenBy(keyId: string, body: () => Promise<unknown>): Promise<number> {
  const total = () =>
    runInDurableObject(
      limiterOf(keyId),
      (_, { storage }) => storage.sql.exec<{ n: number }>("select total_changes() as n").one().n,
    );
  const before = await total();
  await body();
  return (await total()) - before;
}

type Query = () => Promise<D1Result[]>;

/** The loads of policies by limiters. Until vitest's `restoreAllMocks`. */
export function watchPolicyLoads() {
  // The binding's own classes, which objects use, too.
  const database: D1Database = Object.getPrototypeOf(env.DB);
  const statement: D1PreparedStatement = Object.getPrototypeOf(env.DB.prepare("select 1"));
  const { batch } = database;
  const { all } = statement;
  let loads = 0;
  let around = (query: Query, _isMark: boolean) => query();
  async function watchedAll(this: D1PreparedStatement): Promise<D1Result> {
    if (!isOfPolicy([this], "as hasLimiter")) return all.call(this);
    loads++;
    const [result] = await around(async () => [await all.call(this)], false);
    if (result === undefined) throw new Error("a query has one result");
    return result;
  }
  async function watchedBatch(this: D1Database, statements: D1PreparedStatement[]): Promise<D1Result[]> {
    const run = () => batch.call(this, statements) as Promise<D1Result[]>;
    return isOfPolicy(statements, "insert into limiters") ? around(run, true) : run();
  }
  // Their type parameters are of the rows, which are passed on as they are.
  vi.spyOn(statement, "all").mockImplementation(watchedAll as D1PreparedStatement["all"]);
  vi.spyOn(database, "batch").mockImplementation(watchedBatch as D1Database["batch"]);
  return {
    /** Since the last call. */
    loads(): number {
      const since = loads;
      loads = 0;
      return since;
    },
    /**
     * From now on each query of a load goes through `wrapper`, which can delay the query or its answer, or
     * fail. `isMark`: the second query of a key's first load, which notes that there is a limiter.
     */
    wrap(wrapper: (query: Query, isMark: boolean) => Promise<D1Result[]>): void {
      around = wrapper;
    },
  };
}

/** Whether a statement has this text, which only loads of policies have. */
function isOfPolicy(statements: readonly D1PreparedStatement[], text: string): boolean {
  // A member of the runtime's class that its type does not have.
  return statements.some((each) => String(Reflect.get(each, "statement")).includes(text));
}
