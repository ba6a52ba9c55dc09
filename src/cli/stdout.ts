/** Standard output. Node's own stream for a file takes a short write for a whole one, as on a disk that becomes full. */
import { fstatSync, writeFileSync } from "node:fs";
import { Writable } from "node:stream";
import type { CliIo } from "./io.ts";

const STDOUT_FD = 1;

export function openStdout(): CliIo["stdout"] {
  return fstatSync(STDOUT_FD).isFile() ? new WholeWrites() : process.stdout;
}

/** Writes all of each chunk, or fails. */
class WholeWrites extends Writable {
  override _write(chunk: Buffer, _encoding: string, done: (error?: Error) => void): void {
    try {
      writeFileSync(STDOUT_FD, chunk);
      done();
    } catch (thrown) {
      done(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  }
}
