/** Tables that fit the terminal: columns are narrowed, then left out, and at last each row becomes a list of its values. */

import { setImmediate } from "node:timers/promises";
import Table from "cli-table3";
import { bar, type Cell, cellText, facts, widest } from "./print.ts";

export type Column = {
  readonly label: string;
  /** May be narrowed to this width: its text wraps between words, and a longer word is cut. */
  readonly min?: number;
  /** Narrowed only when the other columns are as narrow as they may be. */
  readonly isNarrowedLast?: boolean;
  /** May be left out, the highest first. */
  readonly drop?: number;
  /** Numbers, drawn as bars in proportion to the highest. */
  readonly isBar?: boolean;
};

/** These columns are left out first: a list of one object says the same in each row. */
export function withoutFirst(columns: readonly Column[], ...labels: readonly string[]): readonly Column[] {
  return columns.map((column) => (labels.includes(column.label) ? { ...column, drop: 9 } : column));
}

/** Longer texts wrap inside their column, between words. */
const MAX_COLUMN_WIDTH = 48;
const MAX_BAR_CHARS = 40;
const GAP = "  ";

const NO_LINES = Object.fromEntries(
  ["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left", "bottom-right"]
    .concat(["left", "left-mid", "mid", "mid-mid", "right", "right-mid"])
    .map((place) => [place, ""]),
);

/** Null and undefined print as a dash. Throws when `interruption` comes before a long table is drawn. */
export async function table(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  width = Number.POSITIVE_INFINITY,
  interruption?: AbortSignal,
): Promise<string> {
  if (rows.length === 0) return "Nothing to show.";
  const fitted = columnsWithin(columns, rows, width);
  if (fitted === undefined) {
    return (await inBlocks(rows, (block) => asLists(columns, block), interruption)).join("\n\n");
  }
  const labels = fitted.map(({ column }) => column.label);
  const maxima = fitted.map(({ index }) => highest(rows, index));
  const bodies = await inBlocks(rows, (block) => draw(fitted, cellsOf(block, fitted, maxima)), interruption);
  const printed = [draw(fitted, [labels]), ...bodies].join("\n");
  const hidden = columns.filter((column) => !fitted.some((each) => each.column === column));
  if (hidden.length === 0) return printed;
  return `${printed}\n(not shown at this width: ${hidden.map(({ label }) => label).join(", ")}; --csv shows all)`;
}

type Fitted = { readonly column: Column; readonly index: number; readonly width: number };

/** Undefined if no columns that must be shown fit. */
function columnsWithin(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  width: number,
): Fitted[] | undefined {
  let kept = columns.map((column, index) => ({ column, index, width: naturalWidth(column, index, rows) }));
  for (;;) {
    const narrowed = narrow(kept, width);
    if (narrowed !== undefined) return narrowed;
    const drop = Math.max(...kept.map(({ column }) => column.drop ?? 0));
    if (drop === 0) return undefined;
    kept = kept.filter(({ column }) => column.drop !== drop);
  }
}

/** A column is as wide as its content; a long text wraps, but no word is cut. */
function naturalWidth(column: Column, index: number, rows: readonly (readonly Cell[])[]): number {
  if (column.isBar) return MAX_BAR_CHARS;
  const texts = [column.label, ...rows.map((row) => cellText(row[index]))];
  const width = widest(texts);
  if (width <= MAX_COLUMN_WIDTH) return width;
  return Math.max(MAX_COLUMN_WIDTH, widest(texts.flatMap((text) => text.split(/\s/))));
}

/** Undefined if the columns cannot be made narrow enough. */
function narrow(columns: readonly Fitted[], width: number): Fitted[] | undefined {
  const widths = columns.map((each) => each.width);
  const total = () => widths.reduce((sum, each) => sum + each, 0) + GAP.length * (columns.length - 1);
  for (const isLast of [false, true]) {
    while (total() > width) {
      const wide = columns
        .map(({ column }, i) => ({
          i,
          spare: (widths[i] ?? 0) - (column.min ?? Number.POSITIVE_INFINITY),
          column,
        }))
        .filter(({ spare, column }) => spare > 0 && (column.isNarrowedLast ?? false) === isLast)
        .sort((a, b) => (widths[b.i] ?? 0) - (widths[a.i] ?? 0))[0];
      if (wide === undefined) break;
      widths[wide.i] = (widths[wide.i] ?? 0) - 1;
    }
  }
  return total() > width ? undefined : columns.map((each, i) => ({ ...each, width: widths[i] ?? 0 }));
}

/** The time that cli-table3 needs grows with the square of the rows. */
const BLOCK_ROWS = 100;

/** Signals and timers are served between the blocks. */
async function inBlocks<Row>(
  rows: readonly Row[],
  print: (block: readonly Row[]) => string,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const printed: string[] = [];
  for (let from = 0; from < rows.length; from += BLOCK_ROWS) {
    if (from > 0) await setImmediate(undefined, { signal });
    printed.push(print(rows.slice(from, from + BLOCK_ROWS)));
  }
  return printed;
}

function highest(rows: readonly (readonly Cell[])[], index: number): number {
  return rows.reduce((max, row) => Math.max(max, Number(row[index] ?? 0)), 0);
}

/** The texts of the shown columns. */
function cellsOf(
  rows: readonly (readonly Cell[])[],
  fitted: readonly Fitted[],
  maxima: readonly number[],
): string[][] {
  return rows.map((row) =>
    fitted.map(({ column, index, width }, i) =>
      column.isBar ? bar(Number(row[index]), maxima[i] ?? 0, width) : wrappable(cellText(row[index]), width),
    ),
  );
}

/** When cli-table3 wraps a line, it does not count the blanks that it begins with, and takes an ideographic space for one column. */
function wrappable(text: string, width: number): string {
  const lines = text.split("\n");
  return lines
    .map((line) => (widest([line]) > width ? line.trimStart().replaceAll("\u3000", "  ") : line))
    .join("\n");
}

function draw(fitted: readonly Fitted[], rows: readonly (readonly string[])[]): string {
  const printed = new Table({
    chars: { ...NO_LINES, middle: GAP },
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
    colWidths: fitted.map(({ width }) => width),
    wordWrap: true,
  });
  printed.push(...rows.map((row) => [...row]));
  return printed
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

function asLists(columns: readonly Column[], rows: readonly (readonly Cell[])[]): string {
  const shown = columns.map((column, i) => ({ column, i })).filter(({ column }) => !column.isBar);
  return rows.map((row) => facts(shown.map(({ column, i }) => [column.label, row[i]]))).join("\n\n");
}
