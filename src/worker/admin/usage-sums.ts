/** Adds up usage: of keys, of plans, of hours. Pure. */
import type { PlanTotals } from "../db/usage-totals-repository.ts";
import type { Figures, HourFigures } from "../limiter/core/hours.ts";

export type UsageSum = Omit<PlanTotals, "plan">;

export function sumByPlan(parts: readonly PlanTotals[]): PlanTotals[] {
  const plans = [...new Set(parts.map(({ plan }) => plan))].sort();
  return plans.map((plan) => ({ plan, ...sumOf(parts.filter((part) => part.plan === plan)) }));
}

export function sumOf(parts: readonly UsageSum[]): UsageSum {
  const add = (figure: keyof Figures | "keyCount") => parts.reduce((sum, part) => sum + part[figure], 0);
  return {
    keyCount: add("keyCount"),
    admitted: add("admitted"),
    refused: add("refused"),
    refusedWhileBanned: add("refusedWhileBanned"),
    hours: sumOfHours(parts.flatMap(({ hours }) => hours)),
  };
}

/** In order. An hour without requests is left out. */
function sumOfHours(figures: readonly HourFigures[]): HourFigures[] {
  const byHour = new Map<number, HourFigures>();
  for (const [hour, admitted, refused, banned] of figures) {
    const [, a, r, b] = byHour.get(hour) ?? [hour, 0, 0, 0];
    byHour.set(hour, [hour, a + admitted, r + refused, b + banned]);
  }
  return [...byHour.values()].sort(([a], [b]) => a - b);
}
