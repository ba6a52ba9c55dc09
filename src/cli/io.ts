/** What the command line reads from and writes to. `main.ts` makes it from the process, the tests make their own. */
import type { Readable, Writable } from "node:stream";

/** Columns of a terminal; undefined for a file or a pipe. */
type Output = Writable & { readonly columns?: number };

export type CliIo = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  /** Whether a person can be asked: standard input and standard error are a terminal. */
  readonly isInteractive: boolean;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Aborted with an `ExitCode` at a signal such as Ctrl-C: requests and reads stop. */
  readonly interruption: AbortSignal;
};

/** Ends the command with this exit code and without a message. */
export class ExitCode extends Error {
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`exit code ${exitCode}`);
    this.exitCode = exitCode;
  }
}
