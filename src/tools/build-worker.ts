/** Builds the Worker with wrangler, as it would be deployed, without deploying it. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runWrangler } from "./wrangler.ts";

/** The text of the Worker's only module. `options` are further ones of `wrangler deploy`. */
export async function buildWorker(environment: "" | "staging", options: string[] = []): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "store-orders-worker-"));
  try {
    const args = ["deploy", "--dry-run", "--outdir", folder, `--env=${environment}`, ...options];
    const wrangler = runWrangler(args);
    if ((await wrangler.exited) !== 0) throw new Error(`The Worker does not build:\n${wrangler.output()}`);
    return readFileSync(join(folder, "index.js"), "utf8");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
