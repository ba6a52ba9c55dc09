/**
 * `npm run check:bundle`: builds the Worker for each environment as it is deployed, and checks its size, because a larger
 * Worker starts more slowly. It is not minified, so that the stacks in the log can be read.
 *
 * Exit codes: 0 all environments build within the maximum size; 1 not.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Command } from "commander";
import { runWrangler } from "./wrangler.ts";

/** Some 20 % above the current size. Cloudflare's own maximum is 3 MB on the free plan. */
const MAX_GZIPPED_BYTES = 145 * 1024;

const ENVIRONMENTS = ["production", "staging"] as const;

type Size = { environment: string; bytes: number; gzippedBytes: number };

async function build(environment: (typeof ENVIRONMENTS)[number]): Promise<Size> {
  const folder = mkdtempSync(join(tmpdir(), "store-orders-bundle-"));
  try {
    const env = environment === "production" ? ["--env="] : ["--env", environment];
    const wrangler = runWrangler(["deploy", "--dry-run", "--outdir", folder, ...env]);
    if ((await wrangler.exited) !== 0)
      throw new Error(`${environment} does not build:\n${wrangler.output()}`);
    const script = readFileSync(join(folder, "index.js"));
    return { environment, bytes: script.byteLength, gzippedBytes: gzipSync(script).byteLength };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const { json } = new Command("npm run check:bundle --")
  .description("Builds the Worker for each environment and checks its size.")
  .option("--json", "print the sizes as JSON")
  .parse()
  .opts<{ json?: boolean }>();

const sizes: Size[] = [];
for (const environment of ENVIRONMENTS) sizes.push(await build(environment));
const fits = sizes.every((size) => size.gzippedBytes <= MAX_GZIPPED_BYTES);
if (json) console.log(JSON.stringify({ sizes, maxGzippedBytes: MAX_GZIPPED_BYTES, fits }));
else {
  for (const { environment, bytes, gzippedBytes } of sizes) {
    console.log(`${environment.padEnd(10)} ${kib(bytes)} KiB, gzipped ${kib(gzippedBytes)} KiB`);
  }
  if (!fits) console.error(`The maximum is ${kib(MAX_GZIPPED_BYTES)} KiB gzipped.`);
}
process.exitCode = fits ? 0 : 1;

function kib(bytes: number): string {
  return (bytes / 1024).toFixed(1);
}
