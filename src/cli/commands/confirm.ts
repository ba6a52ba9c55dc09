/** Asks before a step that cannot be undone, or that takes effect for many at once. */
import { createInterface } from "node:readline";
import { ArgumentsError } from "../admin-client.ts";
import { type CliIo, ExitCode } from "../io.ts";
import { printable } from "../printable.ts";
import type { Session } from "./session.ts";

/** The option of each command that asks. */
export const YES = ["--yes", "do not ask"] as const;

/**
 * Returns if the step may be taken. `describe` says what it will do, in a sentence. Without a terminal nobody can be asked,
 * so `--yes` must be given.
 */
export async function confirm(
  { io }: Session,
  { yes }: { readonly yes?: boolean },
  describe: () => Promise<string>,
): Promise<void> {
  if (yes) return;
  if (!io.isInteractive) {
    throw new ArgumentsError("This needs --yes, as there is no terminal on which to ask.");
  }
  io.stderr.write(printable(`${await describe()} Type yes to go on: `));
  if ((await readLine(io)).trim().toLowerCase() === "yes") return;
  io.stderr.write("Nothing was changed.\n");
  throw new ExitCode(1);
}

/** Empty if the input ends, as at Ctrl-D. An interruption closes the reader, and ends the command. */
export async function readLine({ stdin, interruption }: CliIo): Promise<string> {
  const lines = createInterface({ input: stdin, terminal: false, signal: interruption });
  try {
    for await (const line of lines) return line;
  } finally {
    stdin.destroy(); // a terminal that is only paused keeps the process running
  }
  interruption.throwIfAborted();
  return "";
}
