/**
 * The Worker as wrangler.toml uploads it: the entry point, what it shares with the operators' module, and that
 * module, which wrangler's own bundle would put into the entry point (ADR-38).
 */
import { readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";

const ROOT = join(import.meta.dirname, "..", "..");
const FOLDER = join(ROOT, "dist", "worker");
const ENTRY = "index.js";

type WorkerFile = { readonly name: string; readonly contents: Uint8Array };

/** The entry point comes last. */
export async function workerFiles(): Promise<WorkerFile[]> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: { index: "src/worker/index.ts" },
    outdir: FOLDER,
    bundle: true,
    splitting: true,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    loader: { ".txt": "copy" },
    assetNames: "[name]",
    minify: true,
    sourcemap: true,
    write: false,
    logLevel: "error",
  });
  return outputFiles
    .map(({ path, contents }) => ({ name: basename(path), contents }))
    .toSorted((a, b) => Number(a.name === ENTRY) - Number(b.name === ENTRY));
}

/** `put` replaces a file in one step: another program may read the folder meanwhile. */
export async function buildWorker(put: (file: string, content: Uint8Array) => void): Promise<void> {
  const files = await workerFiles();
  for (const { name, contents } of files) put(join(FOLDER, name), contents);
  for (const name of readdirSync(FOLDER))
    if (!files.some((file) => file.name === name)) rmSync(join(FOLDER, name), { force: true });
}
