/** Parsers of command-line arguments. Each throws commander's error, which ends in a usage message and exit code 2. */
import { createInterface } from "node:readline";
import { InvalidArgumentError } from "commander";
import { isInt64 } from "../worker/orders/int64.ts";
import { CliError, type CliIo } from "./io.ts";
import { printable } from "./output.ts";

const UNIT_SECONDS = new Map([
  ["s", 1],
  ["m", 60],
  ["h", 3_600],
  ["d", 86_400],
]);

/** `90s`, `30m`, `24h` or `7d`, and `0`, as seconds. */
export function seconds(text: string): number {
  const [, count, unit = ""] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const unitSeconds = UNIT_SECONDS.get(unit);
  if (text === "0") return 0;
  if (unitSeconds === undefined) throw new InvalidArgumentError("Use a number and s, m, h or d, as in 24h.");
  return Number(count) * unitSeconds;
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("Use a whole number.");
  return Number(text);
}

/** How many rows or orders. */
export function count(text: string): number {
  const number = wholeNumber(text);
  if (number === 0) throw new InvalidArgumentError("Use a number from 1 on.");
  return number;
}

/** An id goes into a path unchanged. Any other text could address another route. */
export function id(text: string): string {
  if (!/^[\w-]+$/.test(text)) throw new InvalidArgumentError("Use an id as the lists show it.");
  return text;
}

/** An id of 64 bits, as text: a number would lose digits. */
export function int64(text: string): string {
  if (!isInt64(text)) throw new InvalidArgumentError("Use a whole number of 64 bits.");
  return text;
}

/** Not null, because commander takes null for a missing value. */
export type OrNone<Value> = Value | "none";

export function numberOrNone(text: string): OrNone<number> {
  return text === "none" ? "none" : wholeNumber(text);
}

/** The typed value as it stands in a body. */
export function orNull<Value>(value: OrNone<Value> | undefined): Value | null | undefined {
  return value === "none" ? null : value;
}

/** The members that are not undefined. */
export function given<Members extends object>(
  members: Members,
): { [Name in keyof Members]?: Exclude<Members[Name], undefined> } {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as typeof members; // of the same names and values
}

export function requireChange(json: object): void {
  if (Object.keys(json).length === 0) {
    throw new CliError("Nothing to change: give an option (--help).", { exitCode: 2 });
  }
}

/** The option of each command that asks. */
export const YES = ["--yes", "do not ask"] as const;

/** Returns if the step may be taken. `describe` says what it will do. Without a terminal nobody can be asked. */
export async function confirm(
  io: CliIo,
  { yes }: { readonly yes?: boolean },
  describe: () => Promise<string>,
): Promise<void> {
  if (yes) return;
  if (!io.isInteractive) {
    throw new CliError("This needs --yes, as there is no terminal on which to ask.", { exitCode: 2 });
  }
  io.stderr.write(printable(`${await describe()} Type yes to go on: `));
  if ((await readLine(io)).trim().toLowerCase() !== "yes") throw new CliError("Nothing was changed.");
}

/** Empty if the input ends, as at Ctrl-D. */
export async function readLine({ stdin }: CliIo): Promise<string> {
  try {
    for await (const line of createInterface({ input: stdin, terminal: false })) return line;
    return "";
  } finally {
    stdin.destroy(); // a terminal that is only paused keeps the process running
  }
}
