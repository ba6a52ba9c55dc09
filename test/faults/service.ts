/** Several isolates of the Worker under test, with one D1 and one class of limiters, in Miniflare. */
import { join } from "node:path";
import { readD1Migrations } from "@cloudflare/vitest-plugin";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { type MintedKey, SET_MAC_KEY } from "../support/mint.ts";
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
    external: ["cloudflare:*", "node:*"],
    logLevel: "silent",
  });
  const [file] = built.outputFiles;
  if (!file) throw new Error("esbuild wrote no file");
  return file.text;
}

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
      workers: names.map((name) =>
        workerOptions({
          ...{ name, script, database: "faults", limitersOf: name === first ? undefined : first },
          bindings: {
            ADMIN_TOKEN,
            ...(hasRealTimers ? { REAL_TIMERS: "1" } : {}),
            ...(hasSlowReads ? { SLOW_READS: "1" } : {}),
          },
        }),
      ),
      ...(folder === undefined ? {} : { resourcePersistencePath: folder }),
    }),
  );
  await miniflare.ready;
  const urls = await Promise.all(names.map((name) => miniflare.unsafeGetDirectURL(name)));
  const { control, sql } = controlOf(urls);
  await migrate(sql);
  return { urls, control, sql, close: () => miniflare.dispose() };
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

/** Leaves a database that was migrated before as it is. */
async function migrate(sql: (...statements: SqlStatement[]) => Promise<SqlRow[][]>): Promise<void> {
  const [tables] = await sql(["select 1 from sqlite_master where name = 'audit_log'"]);
  if (tables?.length) return;
  for (const { queries } of await readD1Migrations(join(ROOT, "migrations"))) {
    await sql(...queries.map((query): SqlStatement => [query]));
  }
  await sql([SET_MAC_KEY]);
}
