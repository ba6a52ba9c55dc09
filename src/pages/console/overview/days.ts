/** Days of the service, which are UTC days. Pure. */
import type { DayFigures, UsageOfDay } from "../api-types.ts";

const DAY_MS = 86_400_000;

/** The last days as `2026-11-21`, oldest first and today last. */
export function lastDays(count: number, nowMs: number): string[] {
  return Array.from({ length: count }, (_, i) =>
    new Date(nowMs - (count - 1 - i) * DAY_MS).toISOString().slice(0, 10),
  );
}

export function figuresOf({ day, total }: Pick<UsageOfDay, "day" | "total">): DayFigures {
  const { admitted, refused, refusedWhileBanned } = total;
  return { day, admitted, refused, refusedWhileBanned };
}
