/** Several isolates of the Worker under test, with one D1 and one class of limiters, in Miniflare. */
import { join } from "node:path";
import { readD1Migrations } from "@cloudflare/vitest-plugin";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";

const ROOT = new URL("../..", import.meta.url).pathname;

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
};

export async function startFaultService(script: string, options: ServiceOptions) {
  const { isolates, folder } = options;
  const names = Array.from({ length: isolates }, (_, number) => `isolate-${number}`);
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      port: 0,
      workers: names.map((name, number) => workerOptions(name, number, script, options)),
      ...(folder === undefined ? {} : { resourcePersistencePath: folder }),
    }),
  );
  const url = await miniflare.ready;
  const urls = await Promise.all(
    names.map((name, number) => (number === 0 ? url : miniflare.unsafeGetDirectURL(name))),
  );
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

/** Leaves a database that was migrated before as it is. */
async function migrate(sql: (...statements: SqlStatement[]) => Promise<SqlRow[][]>): Promise<void> {
  const [tables] = await sql(["select 1 from sqlite_master where name = 'audit_log'"]);
  if (tables?.length) return;
  for (const { queries } of await readD1Migrations(join(ROOT, "migrations"))) {
    await sql(...queries.map((query): SqlStatement => [query]));
  }
}

function workerOptions(name: string, number: number, script: string, { hasRealTimers }: ServiceOptions) {
  const perMinute = (namespaceId: string) => ({
    namespace_id: namespaceId,
    simple: { limit: 1_000_000_000, period: 60 as const },
  });
  return {
    name,
    modules: [{ type: "ESModule" as const, path: "worker.js", contents: script }],
    compatibilityDate: "2026-11-01",
    bindings: { ADMIN_TOKEN, ...(hasRealTimers ? { REAL_TIMERS: "1" } : {}) },
    d1Databases: { DB: "faults" },
    durableObjects: {
      KEY_LIMITER: {
        className: "KeyLimiter",
        useSQLite: true,
        ...(number === 0 ? {} : { scriptName: "isolate-0" }),
      },
    },
    ratelimits: {
      UNKNOWN_KEY_IP_RATE_LIMIT: perMinute("1"),
      ADMIN_SIGN_IN_IP_RATE_LIMIT: perMinute("2"),
    },
    ...(number === 0 ? {} : { unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }] }),
  };
}
