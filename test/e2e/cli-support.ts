/** Running the project's Node programs as a person does: as processes of their own. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

export const PROJECT = new URL("../../", import.meta.url).pathname;

/** Compiling the programs once a file instead of once a process halves what a process costs. */
export const QUICK = { NODE_COMPILE_CACHE: temporaryFolder() };

export type Finished = { code: number | null; out: string; err: string };

/** `npm run -s admin -- ARGS`, without npm. A terminal is never there: output goes to pipes. */
export function runAdmin(
  args: readonly string[],
  env: Record<string, string | undefined>,
  input = "",
): Promise<Finished> {
  return run("src/cli/main.ts", args, env, input);
}

export function run(
  program: string,
  args: readonly string[],
  env: Record<string, string | undefined> = {},
  input = "",
): Promise<Finished> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: PROJECT,
    env: { ...process.env, ...QUICK, ...env },
  });
  const [out, err]: [string[], string[]] = [[], []];
  child.stdout.on("data", (data: Buffer) => out.push(data.toString()));
  child.stderr.on("data", (data: Buffer) => err.push(data.toString()));
  // A program that refuses its arguments may be gone before it has read anything.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  return new Promise((done) => {
    child.once("close", (code) => done({ code, out: out.join(""), err: err.join("") }));
  });
}

/** Gone when the file's tests are done. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "store-orders-test-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
