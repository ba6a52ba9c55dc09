/** Days of the service, which are UTC days, and the keys that stand out on one. Pure. */
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

type KeyUsage = UsageOfDay["keys"][number];

/** The keys that a limit refused, most refused first: the order of `sort=refused`, which does not count refusals of a ban. */
export function mostRefused(keys: readonly KeyUsage[], count: number): KeyUsage[] {
  return keys
    .filter((key) => key.refused > 0)
    .toSorted((a, b) => b.refused - a.refused)
    .slice(0, count);
}

/** The keys that used most of their limit of the day. A revoked key can be without one. */
export function nearestToLimit(keys: readonly KeyUsage[], count: number): KeyUsage[] {
  return keys
    .filter((key) => key.admitted > 0 && key.percent !== null)
    .toSorted((a, b) => (b.percent ?? 0) - (a.percent ?? 0))
    .slice(0, count);
}
