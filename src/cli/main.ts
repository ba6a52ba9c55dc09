/** Runs the command line as a process. */
import { runCli } from "./run-cli.ts";

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // The reader of a pipe, such as `head`, can end first, which is no error.
  if (error.code === "EPIPE") process.exit();
  console.error(`error: The output cannot be written: ${error.message}.`);
  process.exit(1);
});

// The exit code tells what happened, also if nobody reads the message.
process.stderr.on("error", () => undefined);

process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  isInteractive: process.stdin.isTTY === true && process.stderr.isTTY === true,
  stdout: process.stdout,
  stderr: process.stderr,
  // A pipe has no width, so a row stays one line. `COLUMNS` sets the width of both.
  columns: Number(process.env.COLUMNS) || process.stdout.columns || Number.POSITIVE_INFINITY,
});
