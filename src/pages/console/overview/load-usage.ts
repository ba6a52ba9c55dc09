/** Loads what the overview shows of usage: today, and the days before it. */
import { type AdminClient, jsonOf } from "../admin-client.ts";
import type { DayFigures, UsageOfDay } from "../api-types.ts";
import { pointsOfDays, pointsOfHours, type UsagePoint } from "../usage/points.ts";
import { figuresOf, lastDays } from "./days.ts";

export const DAYS = 30;
const KEYS_SHOWN = 10;

type KeyUsage = UsageOfDay["keys"][number];

type OverviewUsage = {
  readonly today: UsageOfDay;
  /** The keys that used most of their limit of the day. */
  readonly nearest: readonly KeyUsage[];
  /** The keys that a limit refused most. */
  readonly refused: readonly KeyUsage[];
  readonly hours: readonly UsagePoint[];
  readonly days: readonly UsagePoint[];
};

/** Past days are loaded once all their hours are reported; until then, again each time. */
export async function loadUsage(client: AdminClient, past: Map<string, DayFigures>): Promise<OverviewUsage> {
  const names = lastDays(DAYS, Date.now());
  const load = (day: string, sort: "percent" | "refused", limit = KEYS_SHOWN) =>
    jsonOf(client.usage.$get({ query: { day, sort, limit: String(limit) } }), "day", "asOf", "keys", "total");
  const todayName = names.pop() ?? "";
  const missing = names.filter((day) => !past.has(day));
  const [today, byRefused, ...loaded] = await Promise.all([
    load(todayName, "percent"),
    load(todayName, "refused"),
    ...missing.map((day) => load(day, "percent", 1)),
  ]);
  for (const usage of loaded) past.set(usage.day, figuresOf(usage));
  const days = [...names.flatMap((day) => past.get(day) ?? []), figuresOf(today)];
  for (const { day, asOf } of loaded) if (asOf.startsWith(day)) past.delete(day);
  return {
    today,
    nearest: today.keys.filter(({ admitted }) => admitted > 0),
    refused: byRefused.keys.filter(({ refused }) => refused > 0),
    hours: pointsOfHours(today.total.hours),
    days: pointsOfDays(days),
  };
}
