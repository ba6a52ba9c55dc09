/** Tables as CSV (RFC 4180), with every column and without a bound on the width. */
import type { Cell } from "./print.ts";
import type { Column } from "./table.ts";

export function csv(columns: readonly Column[], rows: readonly (readonly Cell[])[]): string {
  const shown = columns.map((column, i) => ({ column, i })).filter(({ column }) => !column.isBar);
  const lines = [
    shown.map(({ column }) => field(column.label)),
    ...rows.map((row) => shown.map(({ i }) => field(row[i]))),
  ];
  return lines.map((fields) => fields.join(",")).join("\n");
}

function field(value: Cell): string {
  if (value === null || value === undefined) return "";
  // A spreadsheet would run a text that begins like this as a formula.
  const text = typeof value === "string" ? value.replace(/^(?=[=+\-@])/, "'") : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
