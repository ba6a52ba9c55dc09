/** `npm run -s admin -- …`: the command line as a process. */
import { endWithNpm } from "../tools/end-with-npm.ts";
import { ExitCode } from "./io.ts";
import { reachLoopbackDirectly } from "./no-proxy.ts";
import { runCli } from "./run-cli.ts";
import { openStdout } from "./stdout.ts";

const interruption = new AbortController();
// A second signal would end the process before its clean-up.
for (const script of ["admin", "smoke"]) endWithNpm(script, () => interruption.signal.aborted);

const stdout = openStdout();
// A reader such as `| head` may close the pipe early. That is no error.
stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit();
  process.stderr.write(
    `error: The output cannot be written: ${error.message}. What the command changed stays changed.\n`,
  );
  process.exit(1);
});

/** For what is printed after an interruption, and for the smoke test's clean-up. */
const MAX_END_MS = 1_000;

for (const [signal, exitCode] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  process.once(signal, () => {
    interruption.abort(new ExitCode(exitCode));
    // A system call that blocks in a thread, as of a FIFO or a name server, would keep the process from exiting. Now that this
    // listener is removed, the signal ends it at once, as a second one would. A shell has the same exit code for it.
    setTimeout(() => process.kill(process.pid, signal), MAX_END_MS).unref();
  });
}

reachLoopbackDirectly(process.env);
process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  isInteractive: process.stdin.isTTY === true && process.stderr.isTTY === true,
  stdout,
  stderr: process.stderr,
  interruption: interruption.signal,
});
