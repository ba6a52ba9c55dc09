/** Usage as CSV: one row for each row of the answer, with the members of its schema. */
import { type CsvTable, columnsOf } from "../http/csv.ts";
import { USAGE_ROWS } from "./schema.ts";
import type { Usage, UsageOfKey } from "./service.ts";

export const usageTable = ({ by, from, rows, next }: Usage): CsvTable => ({
  file: `usage-by-${by}-${from.slice(0, 10)}`,
  columns: columnsOf(USAGE_ROWS[by]),
  rows,
  next,
});

export const keyUsageTable = ({ keyId, by, from, rows }: UsageOfKey): CsvTable => ({
  file: `usage-${keyId}-by-${by}-${from.slice(0, 10)}`,
  columns: columnsOf(USAGE_ROWS[by]),
  rows,
});
