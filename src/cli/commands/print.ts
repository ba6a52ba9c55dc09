/** Formats tables, lists of labelled values, and bars as text. */
import Table from "cli-table3";
import { printable } from "../printable.ts";

type Cell = string | number | null | undefined;

/** Longer texts wrap inside their column, between words. */
const MAX_COLUMN_CHARS = 48;

const NO_LINES = Object.fromEntries(
  ["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left", "bottom-right"]
    .concat(["left", "left-mid", "mid", "mid-mid", "right", "right-mid"])
    .map((place) => [place, ""]),
);

/** Null and undefined print as a dash. A table wider than `width` becomes one list of labelled values for each row. */
export function table(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  width = Number.POSITIVE_INFINITY,
): string {
  if (rows.length === 0) return "Nothing to show.";
  const cells = rows.map((row) => row.map(cell));
  const printed = new Table({
    head: [...head],
    chars: { ...NO_LINES, middle: "  " },
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
    colWidths: head.map((_, i) => widthOf(cells.map((row) => row[i] ?? ""))),
    wordWrap: true,
  });
  printed.push(...cells);
  const lines = printed
    .toString()
    .split("\n")
    .map((line) => line.trimEnd());
  if (widest(lines) <= width) return lines.join("\n");
  return cells.map((row) => facts(head.map((label, i) => [label, row[i]]))).join("\n\n");
}

/** Null: as wide as the column's content. A column is never narrower than its longest word, which would be cut. */
function widthOf(column: readonly string[]): number | null {
  if (widest(column) <= MAX_COLUMN_CHARS) return null;
  return Math.max(MAX_COLUMN_CHARS, widest(column.flatMap((text) => text.split(/\s/))));
}

function widest(texts: readonly string[]): number {
  return Math.max(0, ...texts.flatMap((text) => text.split("\n")).map((line) => line.length));
}

/** One `label  value` pair per line. Further lines of a value are indented to its first one. */
export function facts(pairs: readonly (readonly [string, Cell])[]): string {
  const width = widest(pairs.map(([label]) => label)) + 2;
  const indented = (value: Cell) => cell(value).replaceAll("\n", `\n${" ".repeat(width)}`);
  return pairs.map(([label, value]) => `${label.padEnd(width)}${indented(value)}`).join("\n");
}

/** The option that shows the next page; empty on the last page. */
export function more(option: string, next: string | number | null): string {
  return next === null ? "" : `\nMore: ${option} ${next}`;
}

const BAR_WIDTH = 40;

/** Whole and half blocks. Any value above 0 shows at least half a block. */
export function bar(value: number, max: number): string {
  if (value === 0 || max === 0) return "";
  const halves = Math.max(1, Math.round((value / max) * BAR_WIDTH * 2));
  return "█".repeat(Math.floor(halves / 2)) + (halves % 2 === 1 ? "▌" : "");
}

function cell(value: Cell): string {
  return value === null || value === undefined ? "–" : printable(String(value));
}
