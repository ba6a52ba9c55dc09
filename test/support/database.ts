/**
 * D1 databases of a Miniflare, over HTTP: a Worker beside the tested ones runs the statements. Miniflare's
 * own binding blocks the process at each `prepare` and `bind`, and takes a millisecond for each value.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { V4Namespace } from "miniflare";
import { parse } from "smol-toml";
import { insertKey, insertSecret, type KeyOptions, type MintedKey, mintKey, SET_MAC_KEY } from "./mint.ts";
import { readText } from "./sources.ts";

const MIGRATIONS = join(import.meta.dirname, "..", "..", "migrations");

/** The date of wrangler.toml. */
export const COMPATIBILITY_DATE = String(parse(readText("wrangler.toml")).compatibility_date);

const NAME = "database";

const SCRIPT = `export default {
  async fetch(request, env) {
    const { binding, statements } = await request.json();
    try {
      const prepared = statements.map(({ sql, values }) => env[binding].prepare(sql).bind(...values));
      return Response.json(await env[binding].batch(prepared));
    } catch ({ message }) {
      return new Response(message, { status: 500 });
    }
  },
};`;

/** A part of D1's interface. */
export type Database = {
  prepare(sql: string): Statement;
  /** One transaction. */
  batch<T = Row>(statements: readonly Statement[]): Promise<{ results: T[] }[]>;
};

type Statement = {
  readonly sql: string;
  readonly values: readonly unknown[];
  bind(...values: unknown[]): Statement;
  all<T = Row>(): Promise<{ results: T[] }>;
  /** The first row, or a column of the first row; null without a row. */
  first<T = Row>(column?: string): Promise<T | null>;
  run(): Promise<unknown>;
};

type Row = Record<string, unknown>;
type Send = <T>(statements: readonly Statement[]) => Promise<{ results: T[] }[]>;

/** For Miniflare's option `workers`. `d1Databases`: as the tested Workers have them. */
export function databaseWorker(d1Databases: V4Namespace) {
  return {
    name: NAME,
    modules: [{ type: "ESModule" as const, path: "database.js", contents: SCRIPT }],
    compatibilityDate: COMPATIBILITY_DATE,
    d1Databases,
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
  };
}

export async function openDatabase(
  miniflare: { unsafeGetDirectURL(name: string): Promise<URL> },
  binding: string,
): Promise<Database> {
  const url = await miniflare.unsafeGetDirectURL(NAME);
  const send: Send = async (statements) => {
    // JSON has no functions: of a statement, the SQL and the values are sent.
    const response = await fetch(url, { method: "POST", body: JSON.stringify({ binding, statements }) });
    if (!response.ok) throw new Error(await response.text());
    return response.json() as Promise<never>; // the caller names the type of the rows
  };
  return { prepare: (sql) => prepare(send, sql), batch: send };
}

function prepare(send: Send, sql: string, values: readonly unknown[] = []): Statement {
  const statement: Statement = {
    sql,
    values,
    bind: (...bound) => {
      if (bound.includes(undefined)) throw new Error("D1 takes no undefined"); // JSON would make it null
      return prepare(send, sql, bound);
    },
    all: async <T>() => {
      const [result = { results: [] }] = await send<T>([statement]);
      return result;
    },
    first: async <T>(column?: string) => {
      const [row = null] = (await statement.all()).results;
      return (row === null || column === undefined ? row : row[column]) as T | null; // as the caller says
    },
    run: () => statement.all(),
  };
  return statement;
}

/** Leaves a database that was migrated before as it is. */
export async function migrate(db: Database, folder = MIGRATIONS): Promise<void> {
  if (await db.prepare("select 1 from sqlite_master where name = 'api_keys'").first()) return;
  const names = readdirSync(folder).filter((name) => name.endsWith(".sql"));
  const sql = names.sort().map((name) => readFileSync(join(folder, name), "utf8"));
  const statements = sql.join("--> statement-breakpoint").split("--> statement-breakpoint");
  await db.batch([...statements, SET_MAC_KEY].map((statement) => db.prepare(statement)));
}

export type TestKey = { readonly id: string; readonly key: string };

/** Without `minted`: a new key. */
export async function createKey(
  db: Database,
  { minted, ...options }: KeyOptions & { readonly minted?: MintedKey } = {},
): Promise<TestKey> {
  const made = minted ?? (await mintKey());
  await db.batch(insertKey(made, options).map(([sql, ...values]) => db.prepare(sql).bind(...values)));
  return { id: made.id, key: made.key };
}

export async function addSecret(db: Database, keyId: string): Promise<string> {
  const minted = await mintKey(keyId);
  const [sql, ...values] = insertSecret(minted);
  await db
    .prepare(sql)
    .bind(...values)
    .run();
  return minted.key;
}

/** A statement of D1 may run for 30 s. */
const ORDERS_PER_STATEMENT = 50_000;

/** Orders with the ids from 1 on. */
export async function insertOrders(db: Database, count: number): Promise<void> {
  for (let first = 1; first <= count; first += ORDERS_PER_STATEMENT) {
    const last = Math.min(first + ORDERS_PER_STATEMENT - 1, count);
    await db
      .prepare(
        `with recursive n (i) as (select ${first} union all select i + 1 from n where i < ${last})
         insert into orders (id, pet_id, quantity, ship_date, complete)
         select i, i % 5000, 1 + i % 9, '2026-01-01T00:00:00.000Z', i % 2 from n`,
      )
      .run();
  }
}
