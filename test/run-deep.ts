/**
 * `npm run test:deep`: what takes too long for each change, some 40 minutes. Properties many times with
 * free seeds, every order of events in a small scope, memory, bad requests, the model run, SIGKILL, generated
 * clients and tools for packages. Every part runs, also after one that failed. Exit code 1 if one failed.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const VITEST = ["node_modules/vitest/vitest.mjs", "run"];
const CONFIG = ["--config", "test/vitest.config.ts", "--maxWorkers=1", "--silent=passed-only"];

type Part = { readonly name: string; readonly command: readonly string[] };

const node = (name: string, ...args: string[]): Part => ({ name, command: [process.execPath, ...args] });

const PARTS: readonly Part[] = [
  node("properties", ...VITEST, ...CONFIG, "--project=unit", "--project=worker", "--testTimeout=1200000"),
  node("every order of events", "src/limiter/test/proof/run.ts"),
  node("memory", ...VITEST, ...CONFIG, "--project=deep"),
  node("the model under faults, SIGKILL under load, bad requests", "test/faults/run.ts", "--minutes", "20"),
  {
    name: "packages of generators and tools",
    command: ["npm", "ci", "--ignore-scripts", "--prefix", "test/contract"],
  },
  node(
    "generated clients, tools for packages",
    ...VITEST,
    "--root",
    "test/contract",
    "--testTimeout=120000",
    "--hookTimeout=150000",
  ),
];

function run([program = "", ...args]: readonly string[]): Promise<boolean> {
  const child = spawn(program, args, { cwd: ROOT, stdio: "inherit", env: { ...process.env, DEEP: "1" } });
  return new Promise((done) => child.once("close", (code) => done(code === 0)));
}

const failed: string[] = [];
for (const [i, { name, command }] of PARTS.entries()) {
  const startMs = performance.now();
  console.log(`\n=== ${i + 1} of ${PARTS.length}: ${name}`);
  const isOk = await run(command);
  if (!isOk) failed.push(name);
  console.log(
    `=== ${name}: ${isOk ? "passed" : "FAILED"} in ${Math.round((performance.now() - startMs) / 1000)} s`,
  );
}
console.log(failed.length === 0 ? "\nAll parts passed." : `\nFailed: ${failed.join(", ")}`);
process.exitCode = failed.length === 0 ? 0 : 1;
