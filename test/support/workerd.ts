/**
 * The real Worker with the bindings of the real wrangler.toml, in a workerd of its own that listens itself: broken HTTP
 * reaches workerd and the Worker, and not the proxies of `wrangler dev`, which answer it themselves.
 */
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { unstable_getMiniflareWorkerOptions } from "wrangler";
import { maskKey, mintKey } from "../../src/worker/auth/key-format.ts";
import { residentMegabytesOf } from "../bench/cpu-time.ts";

const ROOT = join(import.meta.dirname, "..", "..");

const ADMIN_TOKEN = "an-admin-token-for-the-tests-only";

/** Limits that no test reaches. */
const UNLIMITED = 1_000_000_000;

/**
 * A file that does not exist, in place of the developer's .dev.vars: wrangler prints a line for each file that it reads, which is no JSON.
 * Its types lack `envFiles`, and refuse an object with no member that they have.
 */
const NO_DEV_VARS = { overrides: {}, envFiles: ["no-dev-vars"] };

export type Workerd = Awaited<ReturnType<typeof startWorkerd>>;

type Options = {
  readonly hasInspector?: true;
  /** Each line that the Worker or workerd writes. */
  readonly onLog?: (line: string) => void;
};

export async function startWorkerd({ hasInspector, onLog }: Options = {}) {
  const toml = join(ROOT, "wrangler.toml");
  const { workerOptions, main } = unstable_getMiniflareWorkerOptions(toml, "", NO_DEV_VARS);
  if (main === undefined) throw new Error("wrangler.toml names no main file");
  // Pages never reach the Worker. `bindings` below replaces the vars that an operator has set.
  const { assets: _, ...options } = workerOptions;
  const known = new Set(workerdPids());
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: "127.0.0.1",
      port: 0,
      ...(hasInspector ? { inspectorPort: 0 } : {}),
      handleStructuredLogs: ({ message }) => onLog?.(message),
      workers: [
        {
          ...options,
          name: "main",
          modules: [{ type: "ESModule", path: "index.js", contents: await bundle(main) }],
          bindings: { ADMIN_TOKEN },
          unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
        },
      ],
    }),
  );
  await miniflare.ready;
  const db = await miniflare.getD1Database("DB", "main");
  await migrate(db);
  const pid = workerdPids().find((each) => !known.has(each));
  return {
    /** Of workerd itself. */
    url: await miniflare.unsafeGetDirectURL("main"),
    db,
    inspectorUrl: () => miniflare.getInspectorURL(),
    /** Megabytes. Undefined without /proc. */
    residentMemory: () => (pid === undefined ? undefined : residentMegabytesOf({ pid })),
    adminToken: ADMIN_TOKEN,
    createKey: () => createKey(db),
    close: () => miniflare.dispose(),
  };
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

/** All statements in one batch, as the database is new. */
async function migrate(db: Pick<D1Database, "batch" | "prepare">): Promise<void> {
  const folder = join(ROOT, "migrations");
  const names = readdirSync(folder).filter((name) => name.endsWith(".sql"));
  const sql = names.sort().map((name) => readFileSync(join(folder, name), "utf8"));
  const statements = sql.join("--> statement-breakpoint").split("--> statement-breakpoint");
  await db.batch(statements.map((statement) => db.prepare(statement)));
}

async function createKey(db: Pick<D1Database, "batch" | "prepare">): Promise<{ id: string; key: string }> {
  const key = mintKey((count) => randomBytes(count));
  const id = `key_${randomBytes(16).toString("hex")}`;
  const insertKey = db.prepare(
    `insert into api_keys (id, name, plan, requests_per_minute, requests_per_day, created_at)
     values (?, 'test', 'enterprise', ?, ?, 0)`,
  );
  const insertSecret = db.prepare(
    "insert into key_secrets (hash, key_id, hint, created_at) values (?, ?, ?, 0)",
  );
  const hash = createHash("sha256").update(key).digest("hex");
  await db.batch([insertKey.bind(id, UNLIMITED, UNLIMITED), insertSecret.bind(hash, id, maskKey(key))]);
  return { id, key };
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
