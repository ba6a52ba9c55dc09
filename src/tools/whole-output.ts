/** The output of a tool, which is whole or an error. */
import { Console } from "node:console";
import { openStdout } from "../cli/stdout.ts";

/** `console.log` ends the program with exit code 1 if the output cannot be written, as on a full disk. Node's own ignores that. */
export function requireWholeOutput(): void {
  const stdout = openStdout();
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    process.stderr.write(`The output cannot be written: ${error.message}\n`);
    process.exit(1);
  });
  // Progress that nobody can read does not end the work.
  process.stderr.on("error", () => {});
  globalThis.console = new Console({ stdout, stderr: process.stderr, ignoreErrors: false });
}
