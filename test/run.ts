/**
 * `npm test`: the projects in four processes at once, each with one worker. The tests of the Worker are half of
 * the CPU time, so two processes share their files. Each process gets the arguments: files, `-t TITLE`.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { setup as buildPages, PAGES_ARE_BUILT } from "./support/build-pages.ts";

const ROOT = join(import.meta.dirname, "..");
/** Node keeps what it has compiled, so that three processes do not compile vitest in each run. */
const COMPILE_CACHE = join(ROOT, "node_modules", ".cache", "node");
const VITEST = join(ROOT, "node_modules", "vitest", "vitest.mjs");
const CONFIG = ["run", "--config", join(ROOT, "test", "vitest.config.ts"), "--passWithNoTests"];

/** CPU time: some 25 s, 25 s, 33 s and 5 s. The tests of `limiter` wait for timers. */
const LANES: readonly Lane[] = [
  { projects: ["worker"], share: "1/2" },
  { projects: ["worker"], share: "2/2" },
  { projects: ["e2e", "unit"] },
  { projects: ["limiter"] },
];
/** What the lanes set themselves, and what does not end. */
const NOT_TAKEN = /^(?:--(?:project|config|root|maxWorkers|silent|watch|ui)\b|-[crw])/;

/** A `share` is the lane's part of the files. */
type Lane = { readonly projects: readonly string[]; readonly share?: string };

type Result = {
  readonly projects: string;
  readonly code: number;
  readonly output: string;
  readonly isEmpty: boolean;
};

/** The output is shown when the lane ends: lines of several processes would be mixed. */
function runLane({ projects, share }: Lane, args: readonly string[]): Promise<Result> {
  const all = [
    ...projects.map((name) => `--project=${name}`),
    ...(share === undefined ? [] : [`--shard=${share}`]),
    "--maxWorkers=1",
    "--silent=passed-only",
    ...args,
  ];
  const child = spawn(process.execPath, [VITEST, ...CONFIG, ...all], {
    cwd: ROOT,
    env: {
      FORCE_COLOR: process.stdout.isTTY ? "1" : "0",
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      [PAGES_ARE_BUILT]: "1",
      ...process.env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  return new Promise((done) =>
    child.once("close", (code) => {
      const isEmpty = output.includes("No test files found");
      done({ projects: [projects.join(", "), share].join(" ").trim(), code: code ?? 1, output, isEmpty });
    }),
  );
}

/** A file and a title each. An error outside of the tests has neither, and is in the lane's output. */
function failuresOf({ projects, output }: Result): string[] {
  const lines = stripVTControlCharacters(output).matchAll(/^ FAIL +(.+)$/gm);
  const failures = [...new Set([...lines].map(([, test = ""]) => test))];
  return failures.length > 0 ? failures : [`${projects}: see its output`];
}

async function runAll(args: readonly string[]): Promise<string> {
  const startMs = performance.now();
  console.log(`Running ${[...new Set(LANES.flatMap(({ projects }) => projects))].join(", ")} …`);
  buildPages();
  const lanes = LANES.map(async (lane) => {
    const result = await runLane(lane, args);
    if (!result.isEmpty) console.log(`\n=== ${result.projects}\n${result.output.trim()}`);
    return result;
  });
  const results = await Promise.all(lanes);
  if (results.every(({ isEmpty }) => isEmpty))
    return "No test file has such a name. npm run test:slow runs the files of test/slow.";
  const failed = results.filter(({ code }) => code !== 0);
  const seconds = Math.round((performance.now() - startMs) / 1000);
  if (failed.length > 0) return `Failed in ${seconds} s:\n${failed.flatMap(failuresOf).join("\n")}`;
  console.log(`\nAll tests passed in ${seconds} s.`);
  return "";
}

const args = process.argv.slice(2);
const refused = args.find((arg) => NOT_TAKEN.test(arg));
const problem =
  refused === undefined
    ? await runAll(args)
    : `npm test does not take ${refused}. Name files or folders: npm test -- test/worker. To watch: npm run test:watch.`;
if (problem !== "") {
  console.error(`\n${problem}`);
  process.exitCode = 1;
}
