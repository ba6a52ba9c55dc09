/**
 * `npm run check:bundle`: builds the Worker for each environment as it is deployed, and checks its size, because a larger
 * Worker starts more slowly. It is not minified, so that the stacks in the log can be read.
 *
 * Exit codes: 0 all environments build within the maximum size; 1 not; 2 wrong usage.
 */
import { gzipSync } from "node:zlib";
import { Command } from "commander";
import { buildWorker } from "./build-worker.ts";
import { runTool } from "./run-tool.ts";

/** Some 20 % above the current size. Cloudflare's own maximum is 3 MB on the free plan. */
const MAX_GZIPPED_BYTES = 145 * 1024;

const ENVIRONMENTS = ["production", "staging"] as const;

type Size = { environment: string; bytes: number; gzippedBytes: number };

async function build(environment: (typeof ENVIRONMENTS)[number]): Promise<Size> {
  const script = await buildWorker(environment === "production" ? "" : environment);
  return { environment, bytes: Buffer.byteLength(script), gzippedBytes: gzipSync(script).byteLength };
}

async function checkBundle({ json }: { readonly json?: true }): Promise<void> {
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
}

function kib(bytes: number): string {
  return (bytes / 1024).toFixed(1);
}

await runTool(
  new Command("npm run check:bundle --")
    .description("Builds the Worker for each environment and checks its size.")
    .option("--json", "print the sizes as JSON")
    .action(checkBundle),
);
