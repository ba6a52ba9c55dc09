/** Writes answers as text: tables, and lists of members. */

import { styleText } from "node:util";
import stringWidth from "string-width";
import { wordsOf } from "../worker/text/says.ts";
import { escapeControls } from "../worker/text/text.ts";
import type { CliIo, Output } from "./io.ts";

export function toJson(value: unknown): string {
  return printable(JSON.stringify(value));
}

/** Most texts: no control characters, and each character takes one column. The other checks take long. */
const IS_PLAIN = /^[ -~À-ɏ–]*$/;

export function printable(text: string): string {
  return IS_PLAIN.test(text) ? text : escapeControls(text);
}

/** The same JSON: a control character is an escape, and beside texts a blank. */
export function printableJson(text: string): string {
  return printable(text.replace(/[\r\t]/g, " "));
}

/** Keeps the line ends of CSV. */
export function printableLines(text: string): string {
  return text.split("\r\n").map(printable).join("\r\n");
}

/** `2026-11-21 10:42`, UTC. */
export function minuteOf(time: string): string {
  return time.slice(0, 16).replace("T", " ");
}

const ALARMING = ["banned", "disabled", "error:", "expired", "failed", "revoked"];

/** On a terminal with colours, makes a text red if it needs attention, or else gives it the style. */
export function paint(text: string, output: Output, style?: "bold"): string {
  const shown = ALARMING.includes(text) ? "red" : style;
  return shown && output.hasColors?.() ? styleText(shown, text, { validateStream: false }) : text;
}

const NO_VALUE = "–";

/** Writes a value in one line: `name: value, name: value` for an object, `NONE` for null or an empty list. */
export function inline(value: unknown): string {
  if (value === null || value === undefined) return NO_VALUE;
  if (Array.isArray(value)) return value.map(inline).join("; ") || NO_VALUE;
  const text = String(value);
  if (typeof value === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return minuteOf(text);
  if (!isObject(value)) return text.replaceAll("\n", " ");
  return Object.entries(value)
    .map(([name, member]) => `${name}: ${inline(member)}`)
    .join(", ");
}

const GAP = "  ";

/**
 * A member such as `limits.requestsPerDay`, or a label and members such as `object=objectName|object`, or a
 * label and a function. The column shows the first member with a value.
 */
export type TextColumn = string | readonly [label: string, cellOf: (row: never) => unknown];

/** Without a width each row is one line. A column without any value is left out. */
export function table(rows: readonly object[], columns: readonly TextColumn[], io: CliIo): string {
  if (rows.length === 0) return "Nothing to show.";
  const flat = rows.map((row) => ({ row, members: new Map(flatten(row)) }));
  const drawn = columns.flatMap((column): Drawn[] => {
    const values = flat.map((each) => valueIn(column, each));
    return values.every((value) => value == null) ? [] : [draw(headOf(column), values)];
  });
  shrink(drawn, io.columns - GAP.length * (drawn.length - 1));
  const head = linesOf(drawn, 0, (text) => paint(text, io.stdout, "bold"));
  const body = rows.map((_, i) => linesOf(drawn, i + 1, (text) => paint(text, io.stdout)));
  return [head, ...body].join("\n");
}

type Flat = { readonly row: object; readonly members: ReadonlyMap<string, unknown> };

function valueIn(column: TextColumn, { row, members }: Flat): unknown {
  if (typeof column !== "string") return column[1](row as never); // the list is made for these rows
  const names = column.replace(/.*=/, "").split("|");
  return names.map((name) => members.get(name)).find((each) => each != null);
}

/** A column as it is drawn. The first cell is the label. One that `isWhole` never shrinks. */
type Drawn = {
  readonly label: string;
  readonly cells: readonly string[];
  readonly isNumber: boolean;
  readonly isWhole: boolean;
  width: number;
};

/** The beginning of such an id names nothing. That of a key's id names the key. */
const WHOLE = "link";

function draw(label: string, values: readonly unknown[]): Drawn {
  const texts = values.map((value) => printable(inline(value)).replaceAll("\n", " "));
  const isNumber = texts.every((text) => /^(-?[\d.]+|–)$/.test(text));
  const isTime = texts.every((text) => /^(\d{4}-\d\d-\d\d \d\d:\d\d|–)$/.test(text));
  const cells = [label, ...texts];
  const width = cells.reduce((max, text) => Math.max(max, widthOf(text)), 1);
  return { label, cells, isNumber, isWhole: isNumber || isTime || label === WHOLE, width };
}

function widthOf(text: string): number {
  return IS_PLAIN.test(text) ? text.length : stringWidth(text);
}

const MIN_WIDTH = 8;

/** Shrinks the columns of a table that is too wide: first ids, as the beginning names a key, then the widest. */
function shrink(columns: readonly Drawn[], room: number): void {
  let over = columns.reduce((sum, { width }) => sum + width, 0) - room;
  for (const some of [columns.filter(({ label }) => /\bid$/.test(label)), columns]) {
    while (over > 0) {
      const free = some.filter(({ isWhole, width }) => !isWhole && width > MIN_WIDTH);
      const [wide] = free.toSorted((a, b) => b.width - a.width);
      if (wide === undefined) break;
      wide.width--;
      over--;
    }
  }
}

/** The lines of a row. Row 0 has the labels, which stand on the left. */
function linesOf(columns: readonly Drawn[], row: number, style: (text: string) => string): string {
  const wrapped = columns.map(({ cells, width }) => wrap(cells[row] ?? "", width));
  const height = Math.max(...wrapped.map((lines) => lines.length));
  const lines = Array.from({ length: height }, (_, line) =>
    columns
      .map(({ width, isNumber }, i) => {
        const text = wrapped[i]?.[line] ?? "";
        const blanks = " ".repeat(Math.max(width - widthOf(text), 0));
        return isNumber && row > 0 ? blanks + style(text) : style(text) + blanks;
      })
      .join(GAP)
      .trimEnd(),
  );
  return lines.join("\n");
}

/** Wraps a text at blanks, and cuts a longer word. */
function wrap(text: string, width: number): string[] {
  if (widthOf(text) <= width) return [text];
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (widthOf(longer) <= width) {
      line = longer;
      continue;
    }
    if (line !== "") lines.push(line);
    line = cut(word, width);
  }
  return [...lines, line];
}

function cut(word: string, width: number): string {
  if (widthOf(word) <= width) return word;
  let start = "";
  for (const { segment } of new Intl.Segmenter().segment(word)) {
    if (widthOf(start + segment) >= width) break;
    start += segment;
  }
  return `${start}…`;
}

/** The label of `startedAt` is `started at`. */
function headOf(column: TextColumn): string {
  if (typeof column !== "string") return column[0];
  return wordsOf(column.replace(/=.*/, "").replaceAll(".", " "));
}

/** Writes a line for each member, and a line for each row of a list. */
export function describe(object: object): string {
  const members = flatten(object).map(([name, value]) => [headOf(name), value] as const);
  const width = Math.max(...members.map(([name]) => name.length)) + 2;
  const linesOf = (value: unknown): string[] => {
    if (Array.isArray(value) && value.length > 0) return value.map(inline);
    return typeof value === "string" && value.includes("\n") ? value.split("\n") : [inline(value)];
  };
  const lines = members.map(
    ([name, value]) => name.padEnd(width) + linesOf(value).join(`\n${" ".repeat(width)}`),
  );
  return printable(lines.join("\n"));
}

type Member = readonly [name: string, value: unknown];

/** The name of `used` in `live: { minute: { used } }` is `live.minute.used`. */
function flatten(object: object, prefix = ""): Member[] {
  return Object.entries(object).flatMap(([member, value]): Member[] => {
    const name = `${prefix}${member}`;
    return isObject(value) ? flatten(value, `${name}.`) : [[name, value]];
  });
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
