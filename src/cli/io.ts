/** What the command reads from and writes to: made by `main.ts` from the process, and by tests. */
import { createReadStream } from "node:fs";
import type { Readable, Writable } from "node:stream";

/** A terminal says whether it has colours: without `NO_COLOR`, for example. */
export type Output = Writable & { hasColors?(): boolean };

export type CliIo = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  /** Whether a person can be asked: standard input and standard error are a terminal. */
  readonly isInteractive: boolean;
  readonly stdout: Output;
  readonly stderr: Output;
  /** How wide a table may be. */
  readonly columns: number;
};

type Details = { readonly exitCode?: 1 | 2; readonly code?: string; readonly status?: number };

/** Ends the command with a message on standard error. Exit code 1: refused or unreachable; 2: wrong usage. */
export class CliError extends Error {
  readonly exitCode: 1 | 2;
  /** The service gives it in its Error object. Some codes are this program's. */
  readonly code: string;
  /** Undefined: the service has not answered. */
  readonly status: number | undefined;

  constructor(message: string, { exitCode = 1, code, status }: Details = {}) {
    super(message);
    this.exitCode = exitCode;
    this.code = code ?? (exitCode === 2 ? "usage" : "failed");
    this.status = status;
  }
}

/** The bytes of a file; `-` is standard input. Throws a `CliError` if the file cannot be read. */
export async function* bytesOf({ stdin }: CliIo, file: string): AsyncGenerator<Uint8Array, void> {
  const isStdin = ["-", "/dev/stdin", "/dev/fd/0"].includes(file);
  try {
    yield* isStdin ? stdin : createReadStream(file);
  } catch (thrown) {
    throw thrown instanceof Error ? new CliError(`${thrown.message}.`) : thrown;
  }
}
