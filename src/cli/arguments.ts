/** Parsers of command-line arguments. Each throws commander's error, which ends in a usage message and exit code 2. */
import { createInterface } from "node:readline";
import { InvalidArgumentError, Option } from "commander";
import { isInt64 } from "../worker/orders/int64.ts";
import { CliError, type CliIo } from "./io.ts";
import { printable } from "./output.ts";

const UNIT_SECONDS = new Map(Object.entries({ s: 1, m: 60, h: 3_600, d: 86_400 }));

/** `90s`, `30m`, `24h` or `7d`, and `0`, as seconds. */
export function seconds(text: string): number {
  const [, number, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const unitSeconds = UNIT_SECONDS.get(unit);
  if (text === "0") return 0;
  if (unitSeconds === undefined) throw new InvalidArgumentError("Use a number and s, m, h or d, as in 24h.");
  return Number(number) * unitSeconds;
}

export const FUTURE_TIME = "a date, an RFC 3339 date-time, or a time from now, as in 30d";
export const PAST_TIME = "a date, an RFC 3339 date-time, or a time ago, as in 7d";

/** A time from now becomes a date-time. The service checks all others. */
export function futureTime(text: string): string {
  return /^\d+[smhd]$/.test(text) ? timeFromNow(seconds(text)) : text;
}

/** A time ago becomes a UTC day. The service checks all others. */
export function pastDay(text: string): string {
  return /^\d+[smhd]$/.test(text) ? timeFromNow(-seconds(text)).slice(0, 10) : text;
}

export function timeFromNow(inSeconds: number): string {
  return new Date(Date.now() + inSeconds * 1000).toISOString();
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError("Use a whole number.");
  return Number(text);
}

/** How many rows, orders or days. */
export function count(text: string): number {
  const number = wholeNumber(text);
  if (number === 0) throw new InvalidArgumentError("Use a number from 1 on.");
  return number;
}

/** An id of 64 bits, as text: a number would lose digits. */
export function int64(text: string): string {
  if (!isInt64(text)) throw new InvalidArgumentError("Use a whole number of 64 bits.");
  return text;
}

export function choice(flags: string, values: readonly string[], description?: string): Option {
  return new Option(flags, description).choices(values);
}

/** Their long names are the members of the API, so that the options are the body. */
export const PER_MINUTE = "--per-minute, --requests-per-minute <n>";
export const PER_DAY = "--per-day, --requests-per-day <n>";

/** Not null, because commander takes null for a missing value. */
export function numberOrNone(text: string): number | "none" {
  return text === "none" ? "none" : wholeNumber(text);
}

/** Options as a body. A key can be named `none`. */
export function bodyOf(options: Readonly<Record<string, unknown>>): object {
  const toValue = (name: string, value: unknown) => (value === "none" && name !== "name" ? null : value);
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [name, toValue(name, value)]));
}

/** The option of each command that asks. */
export const YES = ["--yes", "do not ask"] as const;

/** Returns if the step may be taken. `describe` says what it will do. Without a terminal nobody can be asked. */
export async function confirm(
  io: CliIo,
  yes: boolean | undefined,
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
