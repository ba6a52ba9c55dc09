/** `npm run -s admin -- …`: the command line as a process. */
import { reachLoopbackDirectly } from "./no-proxy.ts";
import { runCli } from "./run-cli.ts";
import { listenForSignals } from "./signals.ts";
import { openStdout } from "./stdout.ts";

const interruption = listenForSignals();

const stdout = openStdout();
// A reader such as `| head` may close the pipe early. That is no error.
stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit();
  process.stderr.write(
    `error: The output cannot be written: ${error.message}. What the command changed stays changed.\n`,
  );
  process.exit(1);
});
// What nobody can read ends nothing, such as a clean-up after the terminal was closed.
process.stderr.on("error", () => {});

reachLoopbackDirectly(process.env);
process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  isInteractive: process.stdin.isTTY === true && process.stderr.isTTY === true,
  stdout,
  stderr: process.stderr,
  interruption,
});
