/** Usage as CSV: one row for each row of the answer, with the members of its schema. */
import type { CsvTable } from "../http/csv.ts";
import { LIMITS } from "../plans/schema.ts";
import { USAGE_ROWS } from "./schema.ts";
import type { Usage, UsageOfKey } from "./service.ts";

function columnsBy(by: Usage["by"]): string[] {
  const members = Object.keys(USAGE_ROWS[by].entries);
  return members.flatMap((name) => (name === "limits" ? LIMITS : [name]));
}

export const usageTable = ({ by, from, rows, next }: Usage): CsvTable => ({
  file: `usage-by-${by}-${from.slice(0, 10)}`,
  columns: columnsBy(by),
  rows: rows.map((row) => ("limits" in row ? { ...row.limits, ...row } : row)),
  next,
});

export const keyUsageTable = ({ keyId, by, from, rows }: UsageOfKey): CsvTable => ({
  file: `usage-${keyId}-by-${by}-${from.slice(0, 10)}`,
  columns: columnsBy(by),
  rows,
});
