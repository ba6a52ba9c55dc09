/** Several isolates of the Worker under test, with one D1 and one class of limiters, in Miniflare. */
import { join } from "node:path";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { type Database, databaseWorker, migrate, openDatabase } from "../support/database.ts";
import type { MintedKey } from "../support/mint.ts";
import { workerOptions } from "../support/worker-options.ts";

const ROOT = join(import.meta.dirname, "..", "..");

export const ADMIN_TOKEN = "only-for-the-fault-tests-0123456789";

/** The Worker as one file. */
export async function buildWorker(): Promise<string> {
  const built = await build({
    entryPoints: [join(ROOT, "test/faults/worker/index.ts")],
    bundle: true,
    write: false,
    format: "esm",
    target: "esnext",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*", "*/admin-openapi.txt"], // the document of the admin API, which these runs do not ask for
    logLevel: "silent",
  });
  const [file] = built.outputFiles;
  if (!file) throw new Error("esbuild wrote no file");
  return file.text;
}

const PRIMARY = "faults";
const REPLICAS = { DB_REPLICA_1: "replica-1", DB_REPLICA_2: "replica-2" };

export type FaultService = Awaited<ReturnType<typeof startFaultService>>;

export type ServiceOptions = {
  readonly isolates: number;
  /** Where storage is kept. Without it, storage ends with the service. */
  readonly folder?: string;
  /** Timers run as in production. */
  readonly hasRealTimers?: true;
  /** Each read of D1 takes 20 ms, except in a request that plans faults. */
  readonly hasSlowReads?: true;
};

export async function startFaultService(script: string, options: ServiceOptions) {
  const { isolates, folder, hasRealTimers, hasSlowReads } = options;
  const names = Array.from({ length: isolates }, (_, number) => `isolate-${number}`);
  const [first] = names;
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      port: 0,
      workers: [
        ...names.map((name) =>
          workerOptions({
            ...{ name, script, database: PRIMARY, limitersOf: name === first ? undefined : first },
            databases: REPLICAS,
            bindings: {
              ADMIN_TOKEN,
              ...(hasRealTimers ? { REAL_TIMERS: "1" } : {}),
              ...(hasSlowReads ? { SLOW_READS: "1" } : {}),
            },
          }),
        ),
        databaseWorker({ DB: PRIMARY, ...REPLICAS }),
      ],
      ...(folder === undefined ? {} : { resourcePersistencePath: folder }),
    }),
  );
  await miniflare.ready;
  const urls = await Promise.all(names.map((name) => miniflare.unsafeGetDirectURL(name)));
  const { control, sql } = controlOf(urls);
  const primary = await openDatabase(miniflare, "DB");
  await migrate(primary);
  const replicas = await Promise.all(
    Object.keys(REPLICAS).map((binding) => openDatabase(miniflare, binding)),
  );
  for (const replica of replicas) await replica.batch(REPLICA.map((statement) => replica.prepare(statement)));
  const replicate = (number: number) => copyOrders(primary, replicas[number] ?? primary);
  return { urls, control, sql, replicate, close: () => miniflare.dispose() };
}

/** What a list reads. */
const REPLICA = [
  "create table if not exists orders (id integer primary key, json text not null)",
  "create view if not exists order_json as select id, json from orders",
  "create table if not exists order_changes (revision integer primary key, order_id integer, token text)",
];

/** Brings a replica up to date. */
async function copyOrders(primary: Database, replica: Database): Promise<void> {
  const last = await replica.prepare("select max(revision) as n from order_changes").first<number>("n");
  const [orders, changes] = await primary.batch<{ rows: string }>([
    primary.prepare("select json_group_array(json_array(cast(id as text), json)) as rows from order_json"),
    primary
      .prepare(
        "select json_group_array(json_array(revision, cast(order_id as text), token)) as rows from order_changes where revision > ?",
      )
      .bind(last ?? 0),
  ]);
  await replica.batch([
    replica.prepare("delete from orders"),
    replica
      .prepare("insert into orders select cast(value ->> 0 as integer), value ->> 1 from json_each(?)")
      .bind(orders?.results[0]?.rows),
    replica
      .prepare(
        "insert into order_changes select value ->> 0, cast(value ->> 1 as integer), value ->> 2 from json_each(?)",
      )
      .bind(changes?.results[0]?.rows),
  ]);
}

/** What a test needs of a running service beside requests of clients and operators. */
export function controlOf(urls: readonly URL[]) {
  const control = async (name: string, body: object, isolate = 0): Promise<unknown> => {
    const init = { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(new URL(`/__test/${name}`, urls[isolate]), init);
    if (!response.ok) throw new Error(`${name}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  // D1 answers with the rows of each statement.
  const sql = (...statements: SqlStatement[]) => control("sql", { statements }) as Promise<SqlRow[][]>;
  return { control, sql };
}

export type SqlStatement = readonly [sql: string, ...values: unknown[]];
export type SqlRow = Record<string, string | number | null>;

type NewKey = MintedKey & {
  readonly plan: string;
  readonly perMinute: number | null;
  readonly perDay: number | null;
};

export function insertKey({ id, hash, hint, plan, perMinute, perDay }: NewKey): SqlStatement[] {
  return [
    [
      "insert into api_keys (id, name, plan, requests_per_minute, requests_per_day, created_at) values (?, 'test', ?, ?, ?, 0)",
      ...[id, plan, perMinute, perDay],
    ],
    ["insert into key_secrets (hash, key_id, hint, created_at) values (?, ?, ?, 0)", ...[hash, id, hint]],
  ];
}
