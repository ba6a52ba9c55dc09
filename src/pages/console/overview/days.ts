/** Days of the service, which are UTC days, and their sums. Pure. */
import type { DayFigures, UsageOfDay } from "../api-types.ts";

const DAY_MS = 86_400_000;

/** The last days as `2026-11-21`, oldest first and today last. */
export function lastDays(count: number, nowMs: number): string[] {
  return Array.from({ length: count }, (_, i) =>
    new Date(nowMs - (count - 1 - i) * DAY_MS).toISOString().slice(0, 10),
  );
}

export function sumOf({ day, keys }: UsageOfDay): DayFigures {
  const sum = { day, admitted: 0, refused: 0, refusedWhileBanned: 0 };
  for (const key of keys) {
    sum.admitted += key.admitted;
    sum.refused += key.refused;
    sum.refusedWhileBanned += key.refusedWhileBanned;
  }
  return sum;
}

/** The keys with refusals, most refused first. */
export function mostRefused({ keys }: UsageOfDay, count: number): UsageOfDay["keys"] {
  const refusals = (key: UsageOfDay["keys"][number]) => key.refused + key.refusedWhileBanned;
  return keys
    .filter((key) => refusals(key) > 0)
    .toSorted((a, b) => refusals(b) - refusals(a))
    .slice(0, count);
}
