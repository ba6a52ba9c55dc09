/** Usage as CSV: one row for each row of the answer. */
import type { CsvTable } from "../http/csv.ts";
import type { Usage, UsageOfKey } from "./service.ts";

const FIGURES = ["admitted", "refused", "refusedWhileBanned"];
const CLOSENESS = ["daysNear", "medianPercent", "peakPercent"];
const COLUMNS: Readonly<Record<Usage["by"], readonly string[]>> = {
  hour: ["start"],
  day: ["start"],
  key: [
    ...["keyId", "keyName", "ownerName", "ownerEmail", "plan", "requestsPerMinute", "requestsPerDay"],
    ...["percent", ...CLOSENESS],
  ],
  owner: ["owner", "ownerEmail", "plan", "keyCount", ...CLOSENESS],
  plan: ["plan", "keyCount"],
};

export const usageTable = (usage: Usage): CsvTable => ({
  file: `usage-by-${usage.by}-${usage.from.slice(0, 10)}`,
  columns: [...COLUMNS[usage.by], ...FIGURES],
  rows: usage.rows.map((row) => ("limits" in row ? { ...row.limits, ...row } : row)),
  next: usage.next,
});

export const keyUsageTable = ({ keyId, by, from, rows }: UsageOfKey): CsvTable => ({
  file: `usage-${keyId}-by-${by}-${from.slice(0, 10)}`,
  columns: [...COLUMNS[by], ...FIGURES],
  rows,
});
