/** The input and output of the command. `main.ts` passes the process's, and tests pass their own. */
import { createReadStream, statSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import type { Problem } from "../worker/text/check-schema.ts";

/** A terminal says whether it has colours. `NO_COLOR` turns colours off. */
export type Output = Writable & { hasColors?(): boolean };

export type CliIo = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: Readable;
  /** Whether standard input and standard error are a terminal, so that a person can answer. */
  readonly isInteractive: boolean;
  readonly stdout: Output;
  readonly stderr: Output;
  /** The width of the widest table, in characters. Infinite without a terminal. */
  readonly columns: number;
};

type Details = {
  readonly exitCode?: 1 | 2;
  readonly code?: string;
  readonly status?: number;
  readonly problems?: readonly Problem[];
};

/** Ends the command with a message on standard error. Exit code 1: refused or unreachable. 2: wrong usage. */
export class CliError extends Error {
  readonly exitCode: 1 | 2;
  /** The code in the service's Error object, or a code of this program. */
  readonly code: string;
  /** Undefined if the service has not answered. */
  readonly status: number | undefined;
  /** What the service says is wrong with members of the query or the body. */
  readonly problems: readonly Problem[];

  constructor(message: string, { exitCode = 1, code, status, problems = [] }: Details = {}) {
    super(message);
    this.exitCode = exitCode;
    this.code = code ?? (exitCode === 2 ? "usage" : "failed");
    this.status = status;
    this.problems = problems;
  }
}

const STDIN = ["-", "/dev/stdin", "/dev/fd/0"];

/** Reads the bytes of a file. `-` is standard input. Throws a `CliError` if the file cannot be read. */
async function* readBytes({ stdin }: CliIo, file: string): AsyncGenerator<Uint8Array, void> {
  try {
    yield* STDIN.includes(file) ? stdin : createReadStream(file);
  } catch (thrown) {
    throw thrown instanceof Error ? new CliError(`${thrown.message}.`) : thrown;
  }
}

/** Whether the file is a pipe, whose name, such as the shell's `<(…)`, means nothing later. */
export function isPipe(file: string): boolean {
  return STDIN.includes(file) || statSync(file, { throwIfNoEntry: false })?.isFile() === false;
}

/** A pipe can be read once: its bytes are kept for the second time. */
export async function bytesTwice(io: CliIo, file: string): Promise<() => AsyncIterable<Uint8Array>> {
  if (!isPipe(file)) return () => readBytes(io, file);
  const kept = await Array.fromAsync(readBytes(io, file));
  return async function* () {
    yield* kept;
  };
}
