/** Shared by the tests of the admin API: a client, isolates that have used a key, unreachable limiters. */
import { env } from "cloudflare:workers";
import { vi } from "vitest";
import type { Bindings } from "../../../src/worker/context.ts";
import type { TestKey } from "../../support/factories.ts";
import { type App, LIST, limiters, setClock, startApp } from "../../support/worker.ts";
import { wrapDatabase } from "../../support/wrap-database.ts";

export type Answer = {
  status: number;
  // Bodies have many shapes. Each test asserts the members that it reads.
  body: Record<string, unknown> & { id: string; key: string; effective: string };
  text: string;
  etag: string | null;
};

export type Operator = (method: string, path: string, body?: unknown, ifMatch?: string) => Promise<Answer>;

/** Calls /admin with the admin token. A string body is sent unchanged, anything else as JSON. */
export function operatorOf(app: App, name = "mo"): Operator {
  return async (method, path, body, ifMatch) => {
    const response = await app(`/admin${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${env.ADMIN_TOKEN}`,
        "X-Operator": name,
        ...(ifMatch === undefined ? {} : { "If-Match": ifMatch }),
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: JSON.parse(text), text, etag: response.headers.get("ETag") };
  };
}

/** An operator whose next call reads before `first` runs, and writes its change after it. */
export function writingAfter(first: () => Promise<unknown>): Operator {
  let isMade = false;
  const DB = wrapDatabase(env.DB, async (sql, run) => {
    const isChange = sql.length > 1 && sql.some((each) => each.includes("audit_log"));
    if (isChange && !isMade) await first();
    isMade ||= isChange;
    return run();
  });
  return operatorOf(startApp({ DB }));
}

/** Three isolates that have used the key. The operator's requests reach another isolate. */
export async function isolatesInUse(key: string): Promise<App[]> {
  const isolates = [startApp(), startApp(), startApp()];
  for (const call of isolates) await call("/v1/nothing", { key });
  return isolates;
}

/** The status of each isolate's response to a request with this key. */
export function statusesAt(isolates: readonly App[], key: string): Promise<number[]> {
  return Promise.all(isolates.map(async (call) => (await call(LIST, { key })).status));
}

/** No limiter can be reached: each of its methods fails. */
export function unreachableLimiters(): Bindings["KEY_LIMITER"] {
  const fail = () => Promise.reject(new Error("the object cannot be reached"));
  const stub = { admit: fail, inspect: fail, forget: fail, flush: fail, listUnreported: fail };
  return limiters(() => stub);
}

/** Limiters that are told to forget. They record their names and the maximum number of concurrent calls. */
export function countingLimiters() {
  const names: string[] = [];
  let running = 0;
  let maxConcurrent = 0;
  const forget = async () => {
    maxConcurrent = Math.max(maxConcurrent, ++running);
    await new Promise((resolve) => setTimeout(resolve, 1));
    running--;
  };
  return {
    KEY_LIMITER: limiters((name) => {
      names.push(name);
      return { forget };
    }),
    names: () => names,
    maxConcurrent: () => maxConcurrent,
  };
}

/** Bans a key with one request per minute: after its first refusal, the key goes on in seconds 2 to 21. */
export async function banByStrikes({ key }: TestKey, app: App, startMs: number): Promise<void> {
  for (const second of [0, 0, ...Array.from({ length: 20 }, (_, i) => 2 + i)]) {
    setClock(startMs + second * 1_000);
    await app("/v1/nothing", { key });
  }
}

/** Waits until the query finds a row in D1: limiters report after they have answered. */
export function untilStored(query: string, ...values: unknown[]): Promise<unknown> {
  return vi.waitFor(
    async () => {
      const row = await env.DB.prepare(query)
        .bind(...values)
        .first();
      if (!row) throw new Error(`no row: ${query}`);
      return row;
    },
    { timeout: 3_000, interval: 10 },
  );
}

/** Runs `body` while inserts into these tables fail, so that limiters cannot report to them. */
export async function withoutReportsTo(tables: readonly string[], body: () => Promise<void>): Promise<void> {
  for (const table of tables) {
    await env.DB.prepare(
      `create trigger no_${table} before insert on ${table} begin select raise(abort, 'no reports'); end`,
    ).run();
  }
  try {
    await body();
  } finally {
    for (const table of tables) await env.DB.exec(`drop trigger no_${table}`);
  }
}

export const TABLES = [
  "plans",
  "api_keys",
  "key_secrets",
  "outdated_keys",
  "bans",
  "orders",
  "audit_log",
  "alerts",
  "owner_links",
  "console_sessions",
  "customers",
];

/** The rows of all tables that changes of operators write. No entry of the log ever changes: the newest are enough. */
export function everythingStored(): Promise<Record<string, unknown[]>> {
  const others = TABLES.filter((table) => table !== "audit_log");
  return rowsOf([...others, "(select * from audit_log order by id desc limit 9)"]);
}

/** The rows of all tables. */
export async function everyRow(): Promise<Record<string, unknown[]>> {
  const select = "select name from sqlite_schema where type = 'table' and name not glob '_cf*'";
  const { results } = await env.DB.prepare(select).all<{ name: string }>();
  return rowsOf(results.map(({ name }) => name));
}

async function rowsOf(tables: readonly string[]): Promise<Record<string, unknown[]>> {
  const all = await env.DB.batch(tables.map((table) => env.DB.prepare(`select * from ${table}`)));
  return Object.fromEntries(tables.map((table, i) => [table, all[i]?.results ?? []]));
}
