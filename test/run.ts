/**
 * `npm test`: the projects in three processes at once, each with one worker. More workers of a project would
 * each start a workerd and load the same modules. With arguments: one vitest with them.
 */
import { spawn } from "node:child_process";
import { setPriority } from "node:os";
import { join } from "node:path";
import { setup as buildPages, PAGES_ARE_BUILT } from "./support/build-pages.ts";

const ROOT = join(import.meta.dirname, "..");
/** Node keeps what it has compiled, so that three processes do not compile vitest in each run. */
const COMPILE_CACHE = join(ROOT, "node_modules", ".cache", "node");
const VITEST = join(ROOT, "node_modules", "vitest", "vitest.mjs");
const CONFIG = ["run", "--config", join(ROOT, "test", "vitest.config.ts")];

/** The longest first. */
const LANES = [["worker"], ["e2e"], ["unit", "limiter"]];

/**
 * The niceness of the other lanes. Two of them weigh as much as the longest, which so gets one of two
 * cores to itself.
 */
const PRIORITY = 3;

/** What `npm test` runs of the files that its arguments name. */
const QUICK = ["--project=!slow", "--project=!deep"];

type Result = { readonly projects: string; readonly code: number; readonly output: string };

function runVitest(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [VITEST, ...CONFIG, ...args], { cwd: ROOT, stdio: "inherit" });
  return new Promise((done) => child.once("close", (code) => done(code ?? 1)));
}

/** The output is shown when the lane ends: lines of several processes would be mixed. */
function runLane(projects: readonly string[]): Promise<Result> {
  const args = [
    ...projects.map((name) => `--project=${name}`),
    "--maxWorkers=1",
    "--silent=passed-only",
    ...process.argv.slice(2),
  ];
  const child = spawn(process.execPath, [VITEST, ...CONFIG, ...args], {
    cwd: ROOT,
    env: {
      FORCE_COLOR: process.stdout.isTTY ? "1" : "0",
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      [PAGES_ARE_BUILT]: "1",
      ...process.env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (projects !== LANES[0] && child.pid !== undefined) setPriority(child.pid, PRIORITY);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  return new Promise((done) =>
    child.once("close", (code) => done({ projects: projects.join(", "), code: code ?? 1, output })),
  );
}

async function runAll(): Promise<number> {
  const startMs = performance.now();
  console.log(`Running ${LANES.flat().join(", ")} …`);
  buildPages();
  const lanes = LANES.map(async (projects) => {
    const result = await runLane(projects);
    console.log(`\n=== ${result.projects}\n${result.output.trim()}`);
    return result;
  });
  const failed = (await Promise.all(lanes)).filter(({ code }) => code !== 0);
  const seconds = Math.round((performance.now() - startMs) / 1000);
  console.log(
    `\n${failed.length === 0 ? "All tests passed" : `Failed: ${failed.map(({ projects }) => projects).join("; ")}`} in ${seconds} s.`,
  );
  return failed.length === 0 ? 0 : 1;
}

const isWhole = process.argv.slice(2).every((arg) => arg.startsWith("--sequence"));
process.exitCode = isWhole ? await runAll() : await runVitest([...QUICK, ...process.argv.slice(2)]);
