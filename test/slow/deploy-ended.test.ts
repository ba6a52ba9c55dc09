/** `npm run deploy` when npm is ended, or wrangler deploys nothing: the real npm and scripts, with a program in wrangler's place. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { PROJECT, runProcess, temporaryFolder } from "../support/cli.ts";
import { publishedToml } from "../support/configuration.ts";

/** Longer than the test waits for: only a signal ends it earlier. */
const STEP_MS = 10_000;
const MAX_START_MS = 30_000;
const PATH = `${join(PROJECT, "node_modules", ".bin")}:${process.env.PATH}`;

/** Records its runs. */
const SLOW_WRANGLER = `
  require("node:fs").appendFileSync("runs", process.argv.slice(2).join(" ") + "\\n");
  setTimeout(() => {}, ${STEP_MS});`;

/** What wrangler does when its question whether to deploy is answered with no. */
const WRANGLER_THAT_DEPLOYS_NOTHING = `
  console.log("No migrations to apply");
  const { WRANGLER_OUTPUT_FILE_PATH: file } = process.env;
  if (file) require("node:fs").appendFileSync(file, '{"type":"wrangler-session"}\\n{"type":"deploy","version_id":null}\\n');`;

/** Of the project, only what the scripts read. It is copied, because Node finds packages from where a file really is. */
function projectWith(wranglerProgram: string): string {
  const folder = realpathSync(temporaryFolder());
  const wrangler = join(folder, "node_modules", "wrangler");
  mkdirSync(join(wrangler, "bin"), { recursive: true });
  writeFileSync(join(wrangler, "package.json"), "{}");
  writeFileSync(join(wrangler, "bin", "wrangler.js"), wranglerProgram);
  symlinkSync(join(PROJECT, "node_modules", "smol-toml"), join(folder, "node_modules", "smol-toml"));
  for (const source of ["src/tools", "src/cli"]) {
    cpSync(join(PROJECT, source), join(folder, source), { recursive: true });
  }
  cpSync(join(PROJECT, "package.json"), join(folder, "package.json"));
  const edited = publishedToml()
    .replaceAll("00000000-", "5a1c7e0e-")
    .replace("workers_dev = false", "workers_dev = true");
  writeFileSync(join(folder, "wrangler.toml"), edited);
  return folder;
}

it.for([
  { script: "deploy", option: "--env=" },
  { script: "deploy:staging", option: "--env=staging" },
])("npm run $script ends with npm, and deploys nothing then", async ({ script, option }) => {
  const cwd = projectWith(SLOW_WRANGLER);
  const runs = join(cwd, "runs");
  const npm = spawn("npm", ["run", script], { cwd, env: { ...process.env, PATH }, stdio: "pipe" });
  const closed = once(npm, "close"); // when all that write to its output have ended
  await vi.waitUntil(() => existsSync(runs), { timeout: MAX_START_MS, interval: 50 });
  npm.kill("SIGTERM");
  const startMs = performance.now();
  await closed;
  const config = `--config ${join(cwd, "wrangler.toml")}`;
  expect(readFileSync(runs, "utf8")).toBe(`d1 migrations apply DB --remote ${option} ${config}\n`);
  expect(performance.now() - startMs).toBeLessThan(STEP_MS);
});

it("npm run deploy exits with 1 if wrangler ends well without a new version", async () => {
  const cwd = projectWith(WRANGLER_THAT_DEPLOYS_NOTHING);
  const { code, err } = await runProcess("npm", ["run", "deploy"], { PATH }, { cwd });
  expect([code, err]).toEqual([1, expect.stringContaining("The Worker was not deployed:")]);
});

it("npm run deploy applies no migration without a folder for temporary files", async () => {
  const cwd = projectWith(SLOW_WRANGLER);
  const TMPDIR = join(cwd, "package.json");
  const { code, err } = await runProcess("npm", ["run", "deploy"], { PATH, TMPDIR }, { cwd });
  expect([code, err]).toEqual([1, expect.stringContaining("(TMPDIR) cannot be used: ENOTDIR")]);
  expect(existsSync(join(cwd, "runs"))).toBe(false);
});
