/** Runs the command line in this process, and the project's other Node programs as processes. */
import { type SpawnOptions, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { afterAll } from "vitest";
import { runCli } from "../../src/cli/run-cli.ts";

export const PROJECT = join(import.meta.dirname, "..", "..");

export type Finished = { code: number | null; out: string; err: string };

/** `store-orders ARGS`, in this process. `isInteractive`: `input` is typed on a terminal. */
export async function runAdmin(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  {
    input = "",
    isInteractive = false,
    columns = 80,
  }: { input?: string | Buffer; isInteractive?: boolean; columns?: number } = {},
): Promise<Finished> {
  const [stdout, stderr] = [textSink(), textSink()];
  const code = await runCli(args, {
    env,
    stdin: Readable.from([Buffer.from(input)]),
    isInteractive,
    stdout: stdout.stream,
    stderr: stderr.stream,
    columns,
  });
  return { code, out: stdout.text(), err: stderr.text() };
}

function textSink(): { stream: Writable; text: () => string } {
  let text = "";
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      text += chunk;
      done();
    },
  });
  return { stream, text: () => text };
}

/** Runs a program of the project, such as `src/tools/start.ts`, as a process. */
export function runProgram(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  options: SpawnOptions = {},
): Promise<Finished> {
  return runProcess(process.execPath, [program, ...args], env, options);
}

/** Output goes to pipes, so that the program finds no terminal. Without `input` it has no standard input. */
export function runProcess(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  { input, ...options }: SpawnOptions & { readonly input?: string } = {},
): Promise<Finished> {
  const child = spawn(command, args, {
    cwd: PROJECT,
    ...options,
    env: { ...process.env, ...env },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  child.stdin?.end(input);
  const [out, err]: [string[], string[]] = [[], []];
  child.stdout?.on("data", (data: Buffer) => out.push(data.toString()));
  child.stderr?.on("data", (data: Buffer) => err.push(data.toString()));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, out: out.join(""), err: err.join("") }));
  });
}

/** Deleted after the test file's tests. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "store-orders-test-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
