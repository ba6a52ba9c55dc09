/** The bench Worker as one file, as `wrangler deploy` would build it. */
import { rmSync } from "node:fs";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runWrangler } from "../support/wrangler.ts";

export const ROOT = join(import.meta.dirname, "..", "..");

export async function buildWorker(): Promise<string> {
  return await inTemporaryFolder(async (folder) => {
    const entry = join(ROOT, "test/bench/worker/index.ts");
    const wrangler = runWrangler(["deploy", entry, "--dry-run", "--env=", "--outdir", folder]);
    if ((await wrangler.exited) !== 0) throw new Error(wrangler.output());
    return withoutLog(await readFile(join(folder, "index.js"), "utf8"));
  });
}

/** Writing log lines would take most of the measured time, and Cloudflare writes them in another way. */
function withoutLog(script: string): string {
  return `console.log = () => {};\n${script}`;
}

/** The folder is removed afterwards, also when the process is interrupted. */
export async function inTemporaryFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "store-orders-bench-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  try {
    return await use(folder);
  } finally {
    process.off("exit", remove);
    remove();
  }
}
