/** Tables and bars for people. */
import Table from "cli-table3";

type Cell = string | number | null | undefined;

/** Null and undefined print as a dash. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  if (rows.length === 0) return "Nothing to show.";
  const printed = new Table({ head: [...head], style: { head: [], border: [], compact: true } });
  printed.push(...rows.map((row) => row.map(cell)));
  return printed.toString();
}

/** One `label  value` a line. */
export function facts(pairs: readonly (readonly [string, Cell])[]): string {
  const width = Math.max(...pairs.map(([label]) => label.length));
  return pairs.map(([label, value]) => `${label.padEnd(width)}  ${cell(value)}`).join("\n");
}

const BAR_WIDTH = 40;

/** Whole and half blocks: a day with any use at all shows at least half of one. */
export function bar(value: number, most: number): string {
  if (value === 0 || most === 0) return "";
  const halves = Math.max(1, Math.round((value / most) * BAR_WIDTH * 2));
  return "█".repeat(Math.floor(halves / 2)) + (halves % 2 === 1 ? "▌" : "");
}

function cell(value: Cell): string {
  return value === null || value === undefined ? "–" : String(value);
}
