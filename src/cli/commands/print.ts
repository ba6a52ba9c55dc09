/** Formats lists of labelled values and bars as text. */
import stringWidth from "string-width";
import { printable } from "../printable.ts";

export type Cell = string | number | bigint | null | undefined;

export function cellText(value: Cell): string {
  return value === null || value === undefined ? "–" : printable(String(value));
}

/** The columns of the widest line, as cli-table3 measures it: a full-width character takes two. */
export function widest(texts: readonly string[]): number {
  // Not Math.max of all: a call takes no more than some 100,000 arguments.
  return texts
    .flatMap((text) => text.split("\n"))
    .reduce((width, line) => Math.max(width, stringWidth(line)), 0);
}

/** One `label  value` pair per line. Further lines of a value are indented to its first one. */
export function facts(pairs: readonly (readonly [string, Cell])[]): string {
  const width = widest(pairs.map(([label]) => label)) + 2;
  const indented = (value: Cell) => cellText(value).replaceAll("\n", `\n${" ".repeat(width)}`);
  return pairs.map(([label, value]) => `${label.padEnd(width)}${indented(value)}`).join("\n");
}

/** Whole and half blocks. Any value above 0 shows at least half a block. */
export function bar(value: number, max: number, width: number): string {
  if (value === 0 || max === 0) return "";
  const halves = Math.max(1, Math.round((value / max) * width * 2));
  return "█".repeat(Math.floor(halves / 2)) + (halves % 2 === 1 ? "▌" : "");
}
