/** One isolate's worth of the service, with its own caches, on the real bindings or on some that the test replaces. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { type MockInstance, vi } from "vitest";
import { createApp } from "../../src/worker/app.ts";
import type { Bindings } from "../../src/worker/context.ts";

export type App = (path: string, init?: RequestInit & { key?: string }) => Promise<Response>;

export function startApp(replaced: Partial<Bindings> = {}): App {
  const app = createApp();
  const bindings: Bindings = { ...env, ...replaced };
  return async (path, { key, ...init } = {}) => {
    const headers = new Headers(init.headers);
    if (key !== undefined) headers.set("Authorization", `Bearer ${key}`);
    const request = new Request(`https://orders.example${path}`, { ...init, headers });
    return app.fetch(request, bindings, createExecutionContext());
  };
}

export type WatchedDatabase = {
  readonly DB: D1Database;
  /** The SQL of every query since the last look, in order. */
  queries(): string[];
  /** From now on, queries whose SQL matches fail with this message; undefined: they work again. */
  failWith(message: string | undefined, sql?: RegExp): void;
};

/** D1 as it is, but that its queries are noted and can be made to fail. */
export function watchDatabase(): WatchedDatabase {
  let noted: string[] = [];
  let failure: { message: string; sql: RegExp } | undefined;
  const prepare = (sql: string) => {
    noted.push(sql);
    return failure?.sql.test(sql) ? failingStatement(failure.message) : env.DB.prepare(sql);
  };
  const batch = async (statements: D1PreparedStatement[]) => {
    const failing = statements.find((statement) => failingStatements.has(statement));
    return failing ? failing.all() : env.DB.batch(statements);
  };
  return {
    // The app uses these two members; it would fail loudly on any other.
    DB: { prepare, batch } as unknown as D1Database,
    queries() {
      const since = noted;
      noted = [];
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
  // Only ever asked for these, as the real one is.
  const failing = statement as unknown as D1PreparedStatement;
  failingStatements.add(failing);
  return failing;
}

/** The limiters as they are, with the names of those that were addressed. */
export function watchLimiters(): { KEY_LIMITER: Bindings["KEY_LIMITER"]; addressed(): string[] } {
  let names: string[] = [];
  const getByName = (name: string) => {
    names.push(name);
    return env.KEY_LIMITER.getByName(name);
  };
  return {
    // The app addresses limiters by name only.
    KEY_LIMITER: { getByName } as unknown as Bindings["KEY_LIMITER"],
    addressed() {
      const since = names;
      names = [];
      return since;
    },
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
