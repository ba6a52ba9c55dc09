/** Runs the example programs of the documentation page. They are run as they are: only the base URL is another one. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Finished, runProcess } from "./cli.ts";

/** By the file's extension: the program that runs it, and the package of Debian that has it. */
const RUNNERS = {
  sh: { command: "sh", needs: { command: "curl", package: "curl" } },
  mjs: { command: process.execPath, needs: undefined },
  py: { command: "python3", needs: { command: "python3", package: "python3" } },
} as const;

export type ProgramKind = keyof typeof RUNNERS;

/** Fails, rather than skips, if the machine has no curl or no Python. */
export function requirePrograms(): void {
  for (const { needs } of Object.values(RUNNERS)) {
    if (!needs) continue;
    try {
      execFileSync(needs.command, ["--version"], { stdio: "ignore" });
    } catch {
      throw new Error(
        `The examples of the documentation page cannot be tested: ${needs.command} is missing (Debian: apt-get install ${needs.package})`,
      );
    }
  }
}

/**
 * Runs the text of a program. `prelude` comes before it, for a test that replaces the program's waits: a module for
 * Node, statements for Python.
 */
export async function runExampleProgram(
  kind: ProgramKind,
  text: string,
  options: { key: string; args?: readonly string[]; prelude?: string },
): Promise<Finished> {
  const folder = mkdtempSync(join(tmpdir(), "store-orders-example-"));
  const file = join(folder, `program.${kind}`);
  writeFileSync(file, text);
  try {
    const before = preludeArguments(kind, folder, options.prelude);
    const args = [...before, file, ...(options.args ?? [])];
    return await runProcess(RUNNERS[kind].command, args, { KEY: options.key });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function preludeArguments(kind: ProgramKind, folder: string, prelude: string | undefined): string[] {
  if (prelude === undefined) return [];
  if (kind === "sh") throw new Error("a shell program has no prelude");
  if (kind === "py") {
    const runFile = "import runpy, sys; del sys.argv[0]; runpy.run_path(sys.argv[0], run_name='__main__')";
    return ["-c", `${prelude}\n${runFile}`];
  }
  const file = join(folder, "prelude.mjs");
  writeFileSync(file, prelude);
  return ["--import", file];
}
