/**
 * `npm run keep:release`: keeps the Worker of this commit, and which migrations it had, in test/release. The tests run it
 * beside the current Worker, as they meet during a deployment (test/slow/compat.test.ts). Run it on the commit that was deployed.
 *
 * `-- --commit HASH` names another commit whose Worker and migrations are the same as here. Exit codes: 0 kept; 1 not; 2 wrong usage.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Command } from "commander";
import { buildWorker } from "./build-worker.ts";
import { runTool } from "./run-tool.ts";
import { PROJECT_FOLDER } from "./wrangler.ts";

const RELEASE = join(PROJECT_FOLDER, "test", "release");
/** What the Worker is built from, and its tables. */
const SOURCES = ["src/worker", "src/openapi", "migrations", "wrangler.toml", "package-lock.json"];

/** Ends the program if git fails, which says why. */
function git(...args: string[]): string {
  const { status, stdout } = spawnSync("git", args, {
    cwd: PROJECT_FOLDER,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  return status === 0 ? stdout.trim() : process.exit(1);
}

/** The digest of each migration: a release's migrations never change. */
function migrations(): Record<string, string> {
  const folder = join(PROJECT_FOLDER, "migrations");
  const files = readdirSync(folder).filter((file) => file.endsWith(".sql"));
  const digest = (file: string) =>
    createHash("sha256")
      .update(readFileSync(join(folder, file)))
      .digest("hex");
  return Object.fromEntries(files.sort().map((file) => [file, digest(file)]));
}

async function keepRelease(commit: string): Promise<void> {
  const worker = await buildWorker("", ["--minify"]);
  mkdirSync(RELEASE, { recursive: true });
  writeFileSync(join(RELEASE, "worker.js.gz"), gzipSync(worker, { level: 9 }));
  const release = { commit: git("rev-parse", "--short", commit), migrations: migrations() };
  writeFileSync(join(RELEASE, "release.json"), `${JSON.stringify(release, null, 2)}\n`);
  console.log(`Kept the Worker of ${release.commit} in test/release.`);
}

async function keepDeployed({ commit }: { readonly commit: string }): Promise<void> {
  const changed = git("diff", "--name-only", commit, "--", ...SOURCES);
  const untracked = git("ls-files", "--others", "--exclude-standard", "--", ...SOURCES);
  const differing = [changed, untracked].filter((files) => files !== "").join("\n");
  if (differing !== "")
    throw new Error(`These files differ from ${commit}. Check out the deployed commit first:\n${differing}`);
  await keepRelease(commit);
}

await runTool(
  new Command("npm run keep:release --")
    .description("Keeps this commit's Worker for the tests of deployments.")
    .option("--commit <hash>", "the commit that was deployed", "HEAD")
    .action(keepDeployed),
);
