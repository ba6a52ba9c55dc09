/**
 * The Worker with the bindings of the real wrangler.toml, in a workerd of its own that listens itself: broken HTTP
 * reaches workerd and the Worker, and not the proxies of `wrangler dev`, which answer it themselves and are slower.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare, type V4Namespace } from "miniflare";
import { unstable_getMiniflareWorkerOptions } from "wrangler";
import { residentMegabytesOf } from "../bench/cpu-time.ts";
import { addSecret, createKey, databaseWorker, type KeyOptions, migrate, openDatabase } from "./database.ts";

const ROOT = join(import.meta.dirname, "..", "..");

export const ADMIN_TOKEN = "an-admin-token-for-the-tests-only";

/** Limits that no test reaches. */
export const UNLIMITED = { plan: "enterprise", perMinute: 1_000_000_000, perDay: 1_000_000_000 };

/**
 * A file that does not exist, in place of the developer's .dev.vars: wrangler prints a line for each file that it reads, which is no JSON.
 * Its types lack `envFiles`, and refuse an object with no member that they have.
 */
const NO_DEV_VARS = { overrides: {}, envFiles: ["no-dev-vars"] };

export type Workerd = Awaited<ReturnType<typeof startWorkerd>>;

type Options = {
  /** Another entry point than that of wrangler.toml. */
  readonly entry?: string;
  readonly vars?: Readonly<Record<string, string>>;
  /** Serves the pages, too, which test/support/build-pages.ts has built. Every request then passes Cloudflare's router first. */
  readonly hasPages?: true;
  readonly hasInspector?: true;
  /** Each line that the Worker or workerd writes. */
  readonly onLog?: (line: string) => void;
};

export async function startWorkerd({ entry, vars, hasPages, hasInspector, onLog }: Options = {}) {
  const toml = join(ROOT, "wrangler.toml");
  const { workerOptions, main } = unstable_getMiniflareWorkerOptions(toml, "", NO_DEV_VARS);
  if (main === undefined) throw new Error("wrangler.toml names no main file");
  const { assets: _, ...withoutPages } = workerOptions;
  const { d1Databases } = workerOptions as { d1Databases: V4Namespace }; // its type leaves the bindings out
  const known = new Set(workerdPids());
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      port: 0,
      ...(hasInspector ? { inspectorPort: 0 } : {}),
      handleStructuredLogs: ({ message }) => onLog?.(message),
      workers: [
        {
          ...(hasPages ? workerOptions : withoutPages),
          name: "main",
          modules: [{ type: "ESModule", path: "index.js", contents: await bundled(entry ?? main) }],
          bindings: { ADMIN_TOKEN, ...vars }, // they replace the vars that an operator has set
          unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
        },
        databaseWorker(d1Databases),
      ],
    }),
  );
  await miniflare.ready;
  const db = await openDatabase(miniflare, "DB");
  await migrate(db);
  const pid = workerdPids().find((each) => !known.has(each));
  return {
    /** Of workerd itself. */
    url: await miniflare.unsafeGetDirectURL("main"),
    db,
    /** Miniflare's own, which blocks the process. */
    binding: () => miniflare.getD1Database("DB", "main"),
    inspectorUrl: () => miniflare.getInspectorURL(),
    /** Megabytes. Undefined without /proc. */
    residentMemory: () => (pid === undefined ? undefined : residentMegabytesOf({ pid })),
    adminToken: ADMIN_TOKEN,
    createKey: (key?: KeyOptions) => createKey(db, key),
    addSecret: (keyId: string) => addSecret(db, keyId),
    close: () => miniflare.dispose(),
  };
}

/** By entry point. */
const bundles = new Map<string, Promise<string>>();

function bundled(main: string): Promise<string> {
  const known = bundles.get(main) ?? bundle(main);
  bundles.set(main, known);
  return known;
}

async function bundle(main: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [main],
    bundle: true,
    write: false,
    format: "esm",
    target: "esnext",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*"],
  });
  const [file] = outputFiles;
  if (!file) throw new Error("esbuild wrote no file");
  return file.text;
}

/** The processes named workerd that this process has started; none without /proc. */
function workerdPids(): number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name) && isOurWorkerd(name))
      .map(Number);
  } catch {
    return [];
  }
}

function isOurWorkerd(pid: string): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return status.startsWith("Name:\tworkerd\n") && status.includes(`\nPPid:\t${process.pid}\n`);
  } catch {
    return false; // the process has ended meanwhile
  }
}
