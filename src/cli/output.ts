/** Writes answers as text: tables, and lists of members. */
import { styleText } from "node:util";
import Table from "cli-table3";
import stringWidth from "string-width";
import { parseExactJson } from "../worker/text/exact-json.ts";
import type { CliIo, Output } from "./io.ts";

/** An integer above 2^53 is a bigint, which keeps all its digits. */
export function parseJson(text: string): unknown {
  return parseExactJson(text, (value, source) =>
    Number.isSafeInteger(value) || !/^-?\d+$/.test(source) ? value : BigInt(source),
  );
}

export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, member) =>
    typeof member === "bigint" ? JSON.rawJSON(String(member)) : member,
  );
}

/** Escapes control and bidirectional characters, because they can change how a terminal shows a text. */
export function printable(text: string): string {
  return text.replace(
    /(?!\n)[\p{Cc}\p{Bidi_Control}]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** `2026-11-21 10:42`, UTC. */
export function minuteOf(time: string): string {
  return time.slice(0, 16).replace("T", " ");
}

const ALARMING = ["banned", "disabled", "error:", "expired", "failed", "FAILED", "revoked"];

/** On a terminal with colours, makes a text red if it needs attention, or else gives it the style. */
export function paint(text: string, output: Output, style?: "bold"): string {
  const shown = ALARMING.includes(text) ? "red" : style;
  return shown && output.hasColors?.() ? styleText(shown, text, { validateStream: false }) : text;
}

export const NONE = "–";

/** Writes a value in one line: `name: value, name: value` for an object, `NONE` for null or an empty list. */
export function inline(value: unknown): string {
  if (value === null || value === undefined) return NONE;
  if (Array.isArray(value)) return value.map(inline).join("; ") || NONE;
  const text = String(value);
  if (typeof value === "string" && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return minuteOf(text);
  if (!isObject(value)) return text.replaceAll("\n", " ");
  return Object.entries(value)
    .map(([name, member]) => `${name}: ${inline(member)}`)
    .join(", ");
}

const GAP = "  ";
const NO_LINES = Object.fromEntries(Object.keys(new Table().options.chars).map((side) => [side, ""]));

/**
 * A member such as `limits.requestsPerDay`, or a label and members such as `owner=ownerName|ownerEmail`, or a
 * label and a function. The column shows the first member with a value.
 */
export type Column = string | readonly [label: string, cellOf: (row: never) => unknown];

/** Cells wrap at blanks, and a longer word is cut. A column without any value is left out. */
export function table(rows: readonly object[], columns: readonly Column[], io: CliIo): string {
  if (rows.length === 0) return "Nothing to show.";
  const values = rows.map((row) => {
    const members = new Map(flatten(row));
    const first = (names: string[]) => names.map((name) => members.get(name)).find((each) => each != null);
    return columns.map((column) => {
      if (typeof column === "string") return first(column.replace(/.*=/, "").split("|"));
      return column[1](row as never); // the list is made for these rows
    });
  });
  const shown = columns.map((_, i) => i).filter((i) => values.some((row) => (row[i] ?? null) !== null));
  const head = shown.map((i) => labelOf(columns[i] ?? ""));
  const cells = values.map((row) => shown.map((i) => printable(inline(row[i]))));
  const isWhole = (i: number) => cells.every((row) => /^(-?[\d.]+|–|key_\w{12})$/.test(row[i] ?? ""));
  const drawn = new Table({
    head: head.map((label) => paint(label, io.stdout, "bold")),
    chars: { ...NO_LINES, middle: GAP },
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [] },
    colAligns: head.map((_, i) => (isWhole(i) ? "right" : "left")),
    colWidths: widthsOf([head, ...cells], isWhole, io.columns),
    wordWrap: true,
  });
  drawn.push(...cells.map((row) => row.map((text) => paint(text, io.stdout))));
  return drawn.toString().replace(/ +$/gm, "");
}

/** The label of `startedAt` is `started at`. */
export function labelOf(column: Column): string {
  if (typeof column !== "string") return column[0];
  return column
    .replace(/=.*/, "")
    .replaceAll(".", " ")
    .replace(/\B[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** If a table is too wide, its widest columns shrink: first to 12 characters or the longest word. */
function widthsOf(lines: readonly string[][], isWhole: (i: number) => boolean, width: number): number[] {
  const widest = (i: number, split: string | RegExp) =>
    lines
      .flatMap((line) => (line[i] ?? "").split(split))
      .reduce((max, part) => Math.max(max, stringWidth(part)), 1);
  const widths = (lines[0] ?? []).map((_, i) => widest(i, /$^/));
  const floorsOf = (max: number) =>
    widths.map((_, i) => (isWhole(i) ? widest(i, " ") : Math.min(max, widest(i, " "))));
  const room = width - GAP.length * (widths.length - 1);
  for (const floors of [12, 10, 8].map(floorsOf)) {
    for (let over = widths.reduce((sum, each) => sum + each, 0) - room; over > 0; over--) {
      const free = widths.map((each, i) => (each > (floors[i] ?? 0) ? each : 0));
      const i = free.indexOf(Math.max(...free));
      if (!free[i]) break;
      widths[i] = free[i] - 1;
    }
  }
  return widths;
}

/** Writes a line for each member, and a line for each row of a list. */
export function describe(object: object): string {
  const members = flatten(object).map(([name, value]) => [labelOf(name), value] as const);
  const width = Math.max(...members.map(([name]) => name.length)) + 2;
  const linesOf = (value: unknown): string[] => {
    if (Array.isArray(value)) return value.map(inline);
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
