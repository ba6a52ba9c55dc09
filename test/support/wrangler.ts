/** Runs the project's wrangler as a process group of its own, which is stopped as one. */
import { type ChildProcess, spawn } from "node:child_process";
import { LOCAL_ENV, wranglerCommand } from "../../src/tools/wrangler.ts";

export type Wrangler = {
  readonly child: ChildProcess;
  /** Of both output streams. */
  readonly output: () => string;
  readonly exited: Promise<number>;
  /** Ends wrangler, workerd, and their child processes. */
  readonly stop: () => void;
};

export function runWrangler(args: readonly string[]): Wrangler {
  const child = spawn(process.execPath, wranglerCommand(args), {
    env: { ...process.env, ...LOCAL_ENV },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const exited = new Promise<number>((done) => child.once("close", (code) => done(code ?? 1)));
  const stop = () => {
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // The group has ended already.
    }
  };
  return { child, output: () => output, exited, stop };
}
