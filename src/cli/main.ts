/** `npm run -s admin -- …`: the command line as a process. */
import { ExitCode } from "./io.ts";
import { runCli } from "./run-cli.ts";

// A reader such as `| head` may close the pipe early. That is no error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

const interruption = new AbortController();
for (const [signal, exitCode] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  // A second signal ends the process at once, which is Node's default.
  process.once(signal, () => interruption.abort(new ExitCode(exitCode)));
}

process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  isInteractive: process.stdin.isTTY === true && process.stderr.isTTY === true,
  stdout: process.stdout,
  stderr: process.stderr,
  interruption: interruption.signal,
});
