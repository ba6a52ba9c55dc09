/** Answers as text: tables, lists of members, bars. Pure. */
import stringWidth from "string-width";
import { parseExactJson } from "../worker/exact-json.ts";

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

/** Control and bidirectional characters, which can change what a terminal shows, as escapes. */
export function printable(text: string): string {
  return text.replace(
    /(?!\n)[\p{Cc}\p{Bidi_Control}]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A value in one line: `name: value, name: value` for an object, and a dash for null. */
export function inline(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (Array.isArray(value)) return value.map(inline).join("; ") || "–";
  if (!isObject(value)) return String(value).replaceAll("\n", " ");
  return Object.entries(value)
    .map(([name, member]) => `${name}: ${inline(member)}`)
    .join(", ");
}

/** Columns as wide as their content. A terminal wraps what is wider than itself. */
export function table(labels: readonly string[], rows: readonly (readonly unknown[])[]): string {
  if (rows.length === 0) return "Nothing to show.";
  const lines = [labels, ...rows.map((row) => row.map(inline))];
  const widths = labels.map((_, i) =>
    lines.reduce((max, line) => Math.max(max, stringWidth(line[i] ?? "")), 0),
  );
  return lines
    .map((line) =>
      line
        .map((cell, i) => padded(cell, widths[i] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** One line for each member, under the names of the API; below them, a table for each list of objects. */
export function describe(object: object): string {
  const members = membersOf(object, "");
  const facts = members.filter(([, value]) => !isRows(value));
  const width = Math.max(...facts.map(([name]) => name.length)) + 2;
  const text = (value: unknown) =>
    typeof value === "string" ? value.replaceAll("\n", `\n${" ".repeat(width)}`) : inline(value);
  return [
    facts.map((member) => `${member[0].padEnd(width)}${text(member[1])}`).join("\n"),
    ...members.map(([name, value]) => (isRows(value) ? `\n${name}\n${tableOf(value)}` : "")),
  ]
    .filter((part) => part !== "")
    .join("\n");
}

/** Half the columns of a narrow terminal. Any value above 0 has a block. */
const BAR_CHARS = 40;

export function bar(value: number, max: number): string {
  return "█".repeat(value === 0 ? 0 : Math.max(1, Math.round((value / max) * BAR_CHARS)));
}

type Member = readonly [name: string, value: unknown];

/** `live: { minute: { used } }` has the name `live.minute.used`. */
function membersOf(object: object, prefix: string): Member[] {
  return Object.entries(object).flatMap(([name, value]): Member[] =>
    isObject(value) ? membersOf(value, `${prefix}${name}.`) : [[`${prefix}${name}`, value]],
  );
}

function tableOf(rows: readonly object[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return table(
    names,
    rows.map((row) => names.map((name) => new Map(Object.entries(row)).get(name))),
  );
}

function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - stringWidth(text)));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isRows(value: unknown): value is readonly object[] {
  return Array.isArray(value) && value.length > 0 && value.every(isObject);
}
