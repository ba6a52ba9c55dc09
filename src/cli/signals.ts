/** What ends a run of the command line: Ctrl-C, SIGTERM, or that its terminal is closed. */
import { ExitCode } from "./io.ts";

/** For what is printed after an interruption, and for the smoke test's clean-up. */
const MAX_END_MS = 1_000;

/** A signal to the whole group, such as Ctrl-C, comes again from npm where its shell replaces itself by the program, as bash does. */
const SAME_SIGNAL_MS = 300;

const EXIT_CODES = [
  ["SIGHUP", 129],
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const;

/** Aborted by the first signal, with its exit code as the reason. One that comes later than `SAME_SIGNAL_MS` ends the process at once. */
export function listenForSignals(): AbortSignal {
  const interruption = new AbortController();
  let firstMs: number | undefined;
  for (const [signal, exitCode] of EXIT_CODES) {
    // A system call that blocks in a thread, as of a FIFO or a name server, would keep the process from exiting. Without a listener,
    // the signal ends it at once. A shell has the same exit code for it.
    const end = () => {
      process.off(signal, onSignal);
      process.kill(process.pid, signal);
    };
    const onSignal = () => {
      if (firstMs === undefined) {
        firstMs = performance.now();
        interruption.abort(new ExitCode(exitCode));
        setTimeout(end, MAX_END_MS).unref();
      } else if (performance.now() - firstMs > SAME_SIGNAL_MS) end();
    };
    process.on(signal, onSignal);
  }
  return interruption.signal;
}
