/**
 * The Worker with the bindings of the real wrangler.toml, in a workerd of its own that listens itself: broken
 * HTTP reaches workerd and the Worker, and not the proxies of `wrangler dev`, which answer it themselves and
 * are slower.
 */
import { join } from "node:path";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { unstable_getMiniflareWorkerOptions } from "wrangler";
import { addSecret, createKey, databaseWorker, migrate, openDatabase } from "./database.ts";
import { buildUnlessBuilt, builtModules, scriptModule, type WorkerModule } from "./worker-modules.ts";
import { residentMegabytesOf, workerdProcesses } from "./workerd-process.ts";

const ROOT = join(import.meta.dirname, "..", "..");

export const ADMIN_TOKEN = "an-admin-token-for-the-tests-only";

/** Limits that no test reaches. */
export const UNLIMITED = { plan: "enterprise", perMinute: 1_000_000_000, perDay: 1_000_000_000 };

/**
 * A file that does not exist, in place of the developer's .dev.vars: wrangler prints a line for each file
 * that it reads, which is no JSON. Its types lack `envFiles`, and refuse an object with no member that they
 * have.
 */
const NO_DEV_VARS = { overrides: {}, envFiles: ["no-dev-vars"] };

export type Workerd = Awaited<ReturnType<typeof startWorkerd>>;

type Options = {
  /** Another entry point than that of the built Worker. */
  readonly entry?: string;
  /** Other modules than those of the built Worker. */
  readonly modules?: WorkerModule[];
  readonly vars?: Readonly<Record<string, string>>;
  /** So many isolates of the Worker share D1 and the limiters. */
  readonly isolates?: number;
  /** Where storage is kept. Without it, storage ends with the service. */
  readonly folder?: string;
  /** Serves the pages, too, which are built before. Every request then passes Cloudflare's router first. */
  readonly hasPages?: true;
  readonly hasInspector?: true;
  /** Each line that the Worker or workerd writes. */
  readonly onLog?: (line: string) => void;
};

const FIRST = "main";

export async function startWorkerd(options: Options = {}) {
  const { entry, vars, isolates = 1, folder, hasPages, hasInspector, onLog } = options;
  const toml = join(ROOT, "wrangler.toml");
  const { workerOptions } = unstable_getMiniflareWorkerOptions(toml, "", NO_DEV_VARS);
  const { assets: _, ...withoutPages } = workerOptions;
  const bindings = workerOptions as Bindings; // its type leaves them out
  const { d1Databases } = bindings;
  const modules = options.modules ?? (entry ? [scriptModule(await bundled(entry))] : await builtModules());
  const ofFirst = Object.entries(bindings.durableObjects).map(([name, each]) => [
    name,
    { ...each, scriptName: FIRST },
  ]);
  const names = Array.from({ length: isolates }, (_, i) => (i === 0 ? FIRST : `${FIRST}-${i}`));
  const known = workerdProcesses().map(({ pid }) => pid);
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      port: 0,
      ...(hasInspector ? { inspectorPort: 0 } : {}),
      ...(folder === undefined ? {} : { resourcePersistencePath: folder }),
      handleStructuredLogs: ({ message }) => onLog?.(message),
      workers: [
        ...names.map((name) => ({
          ...(hasPages ? workerOptions : withoutPages),
          name,
          modules,
          bindings: { ADMIN_TOKEN, ...vars }, // they replace the vars that an operator has set
          d1Databases,
          ...(name === FIRST ? {} : { durableObjects: Object.fromEntries(ofFirst) }),
          unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
        })),
        databaseWorker(d1Databases),
      ],
    }),
  );
  await miniflare.ready;
  const db = await openDatabase(miniflare, "DB");
  await migrate(db);
  const process = workerdProcesses().find(({ pid }) => !known.includes(pid));
  const urls = await Promise.all(names.map((name) => miniflare.unsafeGetDirectURL(name)));
  const [url] = urls;
  if (url === undefined) throw new Error("a service has at least one isolate");
  return {
    /** workerd's own, of each isolate. */
    urls,
    url,
    db,
    /** Miniflare's own, which blocks the process. */
    binding: () => miniflare.getD1Database("DB", FIRST),
    inspectorUrl: () => miniflare.getInspectorURL(),
    /** Megabytes. Undefined without /proc. */
    residentMemory: () => process && residentMegabytesOf(process),
    adminToken: ADMIN_TOKEN,
    createKey: (key?: Parameters<typeof createKey>[1]) => createKey(db, key),
    addSecret: (keyId: string) => addSecret(db, keyId),
    close: () => miniflare.dispose(),
  };
}

type Bindings = {
  readonly d1Databases: Readonly<Record<string, string>>;
  readonly durableObjects: Readonly<Record<string, object>>;
};

/** By entry point. */
const bundles = new Map<string, Promise<string>>();

function bundled(main: string): Promise<string> {
  const known = bundles.get(main) ?? bundle(main);
  bundles.set(main, known);
  return known;
}

/** The Worker as one file. It has the document of the admin API, which the build makes. */
export async function bundle(main: string): Promise<string> {
  buildUnlessBuilt();
  const { outputFiles } = await build({
    entryPoints: [main],
    bundle: true,
    write: false,
    format: "esm",
    target: "esnext",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
  });
  const [file] = outputFiles;
  if (!file) throw new Error("esbuild wrote no file");
  return file.text;
}
