/** Parses arguments, and asks questions. A parser throws commander's error for wrong usage. */
import { createInterface } from "node:readline";
import { InvalidArgumentError } from "commander";
import { CliError, type CliIo } from "./io.ts";

const UNIT_SECONDS = { d: 86_400, h: 3_600, m: 60, s: 1 };

/** Parses `90s`, `30m`, `24h`, `7d` and `0`, and returns seconds. */
export function seconds(text: string): number {
  const [, number, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const unitSeconds = new Map(Object.entries(UNIT_SECONDS)).get(unit);
  if (text === "0") return 0;
  if (unitSeconds === undefined) throw new InvalidArgumentError("Use a number and s, m, h or d, as in 24h.");
  return Number(number) * unitSeconds;
}

export function parseWholeNumber(text: string): number {
  if (!/^-?\d{1,15}$/.test(text)) throw new InvalidArgumentError("Use a whole number.");
  return Number(text);
}

/** Parses a number of rows or orders. */
export function parseCount(text: string): number {
  const number = parseWholeNumber(text);
  if (number < 1) throw new InvalidArgumentError("Use a number from 1 on.");
  return number;
}

/** Throws before anything is sent if nobody can answer a question. */
export function requireTerminal({ isInteractive }: CliIo): void {
  if (isInteractive) return;
  throw new CliError("This needs --yes, as there is no terminal on which to ask.", { exitCode: 2 });
}

/** Returns if the person types yes, and throws if not. */
export async function confirm(io: CliIo, sentence: string): Promise<void> {
  io.stderr.write(`${sentence} Type yes to go on: `);
  if ((await readLine(io)).trim().toLowerCase() !== "yes") throw new CliError("Nothing was changed.");
}

/** Returns an empty text if the input ends, as at Ctrl-D. */
async function readLine({ stdin }: CliIo): Promise<string> {
  try {
    for await (const line of createInterface({ input: stdin, terminal: false })) return line;
    return "";
  } finally {
    stdin.destroy(); // a terminal that is only paused keeps the process running
  }
}
