/** The measured Workers, in one workerd that listens itself, without wrangler's proxy in front of it. */
import { basename, resolve } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import {
  COMPATIBILITY_DATE,
  createKey,
  databaseWorker,
  migrate,
  openDatabase,
} from "../test/support/database.ts";
import { findWorkerd } from "../test/support/workerd-process.ts";
import { buildWorker, ROOT } from "./build.ts";
import { LIMITERS } from "./limiters/names.ts";

/** The service itself, which the others are compared with, and its order list as most projects write it. */
export const SERVICE = "service";
export const DRIZZLE_ROWS = "drizzle-rows";
export const BARE = "bare";
/** The file of `--limiter`. */
export const YOURS = "yours";

export type MeasuredWorker = {
  readonly id: string;
  readonly name: string;
  readonly script: string;
  readonly objectBinding: string;
  readonly objectClass: string;
};

export const buildService = () =>
  built(SERVICE, "the service", "src/worker/index.ts", "KEY_LIMITER", "KeyLimiter");

export const buildDrizzleRows = () =>
  built(DRIZZLE_ROWS, "drizzle rows, c.json", "bench/worker/drizzle-rows.ts");

/** The bare route first, and last the file of `--limiter`. */
export function buildLimiters(file: string | undefined): Promise<MeasuredWorker[]> {
  const others = { [BARE]: "bare Hono route", ...LIMITERS };
  return Promise.all([
    ...Object.entries(others).map(([id, name]) => built(id, name, `bench/limiters/${id}.ts`)),
    ...(file === undefined ? [] : [built(YOURS, basename(file), file)]),
  ]);
}

async function built(
  id: string,
  name: string,
  file: string,
  objectBinding = "LIMITER",
  objectClass = "Limiter",
): Promise<MeasuredWorker> {
  return {
    id,
    name,
    script: await buildWorker(resolve(ROOT, file), objectClass),
    objectBinding,
    objectClass,
  };
}

export type BenchOptions = {
  readonly workers: readonly MeasuredWorker[];
  /** Requests a minute, of all but the service. */
  readonly limit?: number;
  /** Count what requests cost. It takes CPU time of its own. */
  readonly isCounting?: true;
  /** Vars of the Workers. */
  readonly vars?: Readonly<Record<string, string>>;
  /** Two isolates of each Worker share its Durable Objects and bindings, as they do where it is deployed. */
  readonly hasSecondIsolate?: true;
  /** Where storage is kept. Without it, storage ends with the service. */
  readonly folder?: string;
};

export type BenchService = Awaited<ReturnType<typeof startBench>>;

export async function startBench(options: BenchOptions) {
  const { workers, hasSecondIsolate, folder } = options;
  const isolates = workers.flatMap((worker, i) => [
    isolateOptions(worker, worker.id, i, options),
    ...(hasSecondIsolate ? [isolateOptions(worker, secondOf(worker.id), i, options)] : []),
  ]);
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      port: 0,
      workers: [...isolates, databaseWorker({ DB: "bench" })],
      ...(folder === undefined ? {} : { resourcePersistencePath: folder }),
    }),
  );
  await miniflare.ready;
  const db = await openDatabase(miniflare, "DB");
  await migrate(db);
  const workerd = findWorkerd();
  const urlsOf = async (id: string) => {
    const names = hasSecondIsolate ? [id, secondOf(id)] : [id];
    return await Promise.all(names.map((name) => miniflare.unsafeGetDirectURL(name)));
  };
  const urls = new Map<string, readonly URL[]>();
  for (const { id } of workers) urls.set(id, await urlsOf(id));
  return {
    /** One for each isolate of a Worker. */
    urls: (id: string) => urls.get(id) ?? [],
    url: (id: string): URL => {
      const [url] = urls.get(id) ?? [];
      if (url === undefined) throw new Error(`no Worker "${id}" runs`);
      return url;
    },
    db,
    /** Undefined on a system without /proc. */
    workerd,
    /** Its `Authorization`. */
    createKey: async (limits: { perMinute: number; perDay: number }) => {
      const { key } = await createKey(db, { plan: "enterprise", ...limits });
      return `Bearer ${key}`;
    },
    /** Ends workerd at once, as a crash of its machine would. Close the service afterwards. */
    kill() {
      if (workerd) process.kill(workerd.pid, "SIGKILL"); // without a pid: Miniflare closes with SIGKILL as well
    },
    close: () => miniflare.dispose(),
  };
}

const secondOf = (id: string) => `${id}-second`;

function isolateOptions(
  { id, script, objectBinding, objectClass }: MeasuredWorker,
  name: string,
  index: number,
  { limit = 1, isCounting, vars }: BenchOptions,
) {
  const perMinute = (namespaceId: string, requests: number) => ({
    namespace_id: namespaceId,
    simple: { limit: requests, period: 60 as const },
  });
  const ownsTheDatabase = id === SERVICE || id === DRIZZLE_ROWS;
  return {
    name,
    modules: [{ type: "ESModule" as const, path: "worker.js", contents: script }],
    compatibilityDate: COMPATIBILITY_DATE,
    bindings: { LIMIT: `${limit}`, ...vars, ...(isCounting ? { COUNT: "1" } : {}) },
    d1Databases: { DB: ownsTheDatabase ? "bench" : "limiters" },
    durableObjects: {
      [objectBinding]: {
        className: objectClass,
        useSQLite: true,
        ...(name === id ? {} : { scriptName: id }),
      },
    },
    ratelimits: {
      ADMIN_SIGN_IN_IP_RATE_LIMIT: perMinute("1", 1_000_000),
      RATE_LIMIT: perMinute(`${index + 2}`, limit),
    },
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
  };
}
