/** What the command line reads from and writes to. `main.ts` makes it from the process, the tests make their own. */
import type { Readable, Writable } from "node:stream";

export type CliIo = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  /** Whether a person can be asked: standard input and standard error are a terminal. */
  readonly isInteractive: boolean;
  readonly stdout: Writable;
  readonly stderr: Writable;
};

/** Ends the command with one line on standard error. Exit code 1: refused or unreachable; 2: wrong usage. */
export class CliError extends Error {
  readonly exitCode: 1 | 2;
  /** Of the answer, if the service refused. */
  readonly status: number | undefined;

  constructor(message: string, { exitCode = 1, status }: { exitCode?: 1 | 2; status?: number } = {}) {
    super(message);
    this.exitCode = exitCode;
    this.status = status;
  }
}
