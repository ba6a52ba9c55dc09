/** The bench Worker in Miniflare: workerd itself listens, without wrangler's proxy in front of it. */
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readD1Migrations } from "@cloudflare/vitest-plugin";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { runWrangler } from "../../src/tools/wrangler.ts";
import { maskKey, mintKey } from "../../src/worker/auth/key-format.ts";
import { findWorkerd, HAS_PROC } from "./cpu-time.ts";

export const LISTED_ORDERS = 1_000;

const ROOT = new URL("../..", import.meta.url).pathname;

/** One file, as `wrangler deploy` would build it. */
export async function buildWorker(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "store-orders-bench-"));
  try {
    const entry = join(ROOT, "test/bench/worker/index.ts");
    const wrangler = runWrangler(["deploy", entry, "--dry-run", "--env=", "--outdir", folder]);
    if ((await wrangler.exited) !== 0) throw new Error(wrangler.output());
    return await readFile(join(folder, "index.js"), "utf8");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export type BenchService = Awaited<ReturnType<typeof startBench>>;

export async function startBench(script: string, options: { isCounting: boolean }) {
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      name: "bench",
      host: "127.0.0.1",
      port: 0,
      modules: [{ type: "ESModule", path: "worker.js", contents: withoutLog(script) }],
      compatibilityDate: "2026-11-01",
      bindings: options.isCounting ? { COUNT: "1" } : {},
      d1Databases: ["DB"],
      durableObjects: {
        KEY_LIMITER: { className: "KeyLimiter", useSQLite: true },
        MEMORY_COUNTER: { className: "MemoryCounter", useSQLite: true },
      },
      ratelimits: {
        UNKNOWN_KEY_IP_RATE_LIMIT: { namespace_id: "1", simple: { limit: 1_000_000, period: 60 } },
        ADMIN_SIGN_IN_IP_RATE_LIMIT: { namespace_id: "2", simple: { limit: 1_000_000, period: 60 } },
      },
    }),
  );
  const url = await miniflare.ready;
  const db = await miniflare.getD1Database("DB");
  for (const migration of await readD1Migrations(join(ROOT, "migrations"))) {
    for (const query of migration.queries) await db.prepare(query).run();
  }
  const orders = Array.from({ length: LISTED_ORDERS }, (_, i) => `(${i + 1}, ${i}, 1, 1)`).join(",");
  await db.prepare(`insert into orders (id, pet_id, quantity, complete) values ${orders}`).run();

  return {
    url,
    /** Undefined on a system without /proc. */
    workerd: HAS_PROC ? findWorkerd() : undefined,
    async createKey(limits: { perMinute: number; perDay: number }): Promise<string> {
      const key = mintKey((count) => randomBytes(count));
      const hash = createHash("sha256").update(key).digest("hex");
      const insertKey = db.prepare(
        `insert into api_keys (id, name, plan, requests_per_minute, requests_per_day, created_at)
         values (?, 'bench', 'enterprise', ?, ?, 0)`,
      );
      const insertSecret = db.prepare(
        "insert into key_secrets (hash, key_id, hint, created_at) values (?, ?, ?, 0)",
      );
      const id = `key_${randomBytes(8).toString("hex")}`;
      await db.batch([
        insertKey.bind(id, limits.perMinute, limits.perDay),
        insertSecret.bind(hash, id, maskKey(key)),
      ]);
      return key;
    },
    close: () => miniflare.dispose(),
  };
}

/** Without log lines: writing them would take most of the measured time, and Cloudflare writes them in another way. */
function withoutLog(script: string): string {
  return `console.log = () => {};\n${script}`;
}
