/** Loads what the overview shows of usage: today, and the days before it. */
import { type AdminClient, jsonOf } from "../admin-client.ts";
import type { DayFigures, UsageOfDay } from "../api-types.ts";
import { pointsOfDays, pointsOfHours, type UsagePoint } from "../usage/points.ts";
import { figuresOf, lastDays } from "./days.ts";

export const DAYS = 30;
export const KEYS_SHOWN = 10;
/** Of the keys used most today; the largest page of the admin API. */
export const KEYS_COMPARED = 500;

type KeyUsage = UsageOfDay["keys"][number];

/** Above 500 keys, those near their limit and those refused need not be among the ones used most. */
async function comparedKeys(client: AdminClient, { day, keys, complete }: UsageOfDay): Promise<KeyUsage[]> {
  const sorts = complete && keys.length < KEYS_COMPARED ? [] : (["percent", "refused"] as const);
  const others = await Promise.all(
    sorts.map((sort) =>
      jsonOf(client.usage.$get({ query: { day, sort, limit: String(KEYS_SHOWN) } }), "keys"),
    ),
  );
  // Each list inspects other limiters. Of two figures of a key, live ones count.
  const all = [...keys, ...others.flatMap((other) => other.keys)].toSorted(
    (a, b) => Number(a.live) - Number(b.live),
  );
  return [...new Map(all.map((key) => [key.keyId, key])).values()];
}

/** Past days are loaded once, except yesterday, until its sums have every key. The service sums no earlier day. */
export async function loadUsage(
  client: AdminClient,
  past: Map<string, DayFigures>,
): Promise<{
  today: UsageOfDay;
  keys: readonly KeyUsage[];
  hours: UsagePoint[];
  days: UsagePoint[];
}> {
  const names = lastDays(DAYS, Date.now());
  const load = (day: string, limit: number) =>
    jsonOf(client.usage.$get({ query: { day, limit: String(limit) } }), "day", "keys", "total");
  const todayName = names.pop() ?? "";
  const missing = names.filter((day) => !past.has(day));
  const [today, ...loaded] = await Promise.all([
    load(todayName, KEYS_COMPARED),
    ...missing.map((day) => load(day, 1)),
  ]);
  for (const usage of loaded) past.set(usage.day, figuresOf(usage));
  const days = [...names.flatMap((day) => past.get(day) ?? []), figuresOf(today)];
  const yesterday = loaded.find(({ day }) => day === names.at(-1));
  if (yesterday?.complete === false) past.delete(yesterday.day);
  return {
    today,
    keys: await comparedKeys(client, today),
    hours: pointsOfHours(today.total.hours),
    days: pointsOfDays(days),
  };
}
