/** Tables as CSV, with every column and without a bound on the width. */
import { csvLines } from "../../worker/csv.ts";
import type { Cell } from "./print.ts";
import type { Column } from "./table.ts";

export function csv(columns: readonly Column[], rows: readonly (readonly Cell[])[]): string {
  const shown = columns.map((column, i) => ({ column, i })).filter(({ column }) => !column.isBar);
  const head = shown.map(({ column }) => column.label);
  return csvLines([head, ...rows.map((row) => shown.map(({ i }) => row[i]))]).join("\n");
}
