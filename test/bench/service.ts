/** The bench Worker in Miniflare: workerd itself listens, without wrangler's proxy in front of it. */
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { readText } from "../support/sources.ts";
import { compatibilityDateOf } from "../support/worker-options.ts";
import { findWorkerd, HAS_PROC } from "./cpu-time.ts";
import { createKey, createRivalKey, migrate } from "./database.ts";
import { REACHED_LIMIT, UNREACHED_LIMIT } from "./rivals/names.ts";

export type BenchOptions = {
  /** Count what requests cost. It takes CPU time of its own. */
  readonly isCounting?: true;
  /** Vars of the Worker. */
  readonly vars?: Readonly<Record<string, string>>;
  /** Two isolates of the Worker share its Durable Objects and bindings, as they do where it is deployed. */
  readonly hasSecondIsolate?: true;
  /** Where storage is kept. Without it, storage ends with the service. */
  readonly folder?: string;
};

export type BenchService = Awaited<ReturnType<typeof startBench>>;

const MAIN = "bench";
const SECOND = "second";

export async function startBench(script: string, options: BenchOptions = {}) {
  const names = options.hasSecondIsolate ? [MAIN, SECOND] : [MAIN];
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      port: 0,
      workers: names.map((name) => workerOptions(name, script, options)),
      ...(options.folder === undefined ? {} : { resourcePersistencePath: options.folder }),
    }),
  );
  const url = await miniflare.ready;
  const db = await miniflare.getD1Database("DB", MAIN);
  await migrate(db);
  const workerd = HAS_PROC ? findWorkerd() : undefined;
  return {
    url,
    /** Of each isolate. */
    urls: [url, ...(options.hasSecondIsolate ? [await miniflare.unsafeGetDirectURL(SECOND)] : [])],
    db,
    /** Undefined on a system without /proc. */
    workerd,
    createKey: (limits: { perMinute: number; perDay: number }) => createKey(db, limits),
    createRivalKey: (perMinute: number) => createRivalKey(db, perMinute),
    /** Ends workerd at once, as a crash of its machine would. Close the service afterwards. */
    kill() {
      if (workerd) process.kill(workerd.pid, "SIGKILL"); // without a pid: Miniflare closes with SIGKILL as well
    },
    close: () => miniflare.dispose(),
  };
}

function workerOptions(name: string, script: string, { isCounting, hasSecondIsolate, vars }: BenchOptions) {
  const object = (className: string) => ({
    className,
    useSQLite: true,
    ...(name === MAIN ? {} : { scriptName: MAIN }),
  });
  const perMinute = (namespaceId: string, limit: number) => ({
    namespace_id: namespaceId,
    simple: { limit, period: 60 as const },
  });
  return {
    name,
    modules: [{ type: "ESModule" as const, path: "worker.js", contents: script }],
    compatibilityDate: compatibilityDateOf(readText("wrangler.toml")),
    bindings: { ...vars, ...(isCounting ? { COUNT: "1" } : {}) },
    d1Databases: { DB: "bench" },
    durableObjects: {
      KEY_LIMITER: object("KeyLimiter"),
      MEMORY_COUNTER: object("MemoryCounter"),
      WRITE_THROUGH_COUNTER: object("WriteThroughCounter"),
    },
    ratelimits: {
      ADMIN_SIGN_IN_IP_RATE_LIMIT: perMinute("2", 1_000_000),
      REACHED_RATE_LIMIT: perMinute("3", REACHED_LIMIT),
      UNREACHED_RATE_LIMIT: perMinute("4", UNREACHED_LIMIT),
    },
    ...(hasSecondIsolate && name === SECOND ? { unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }] } : {}),
  };
}
