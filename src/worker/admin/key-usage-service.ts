/** The usage of one key by day and by hour: reported usage from D1, and what its limiter has not reported yet. */
import type { Bindings } from "../context.ts";
import { type Database, openDatabase } from "../db/database.ts";
import type { NamedKeyRecord } from "../db/key-record-repository.ts";
import { listUsageOfKey } from "../db/usage-repository.ts";
import type { Figures } from "../limiter/core/hours.ts";
import { type DailyUsage, dayName } from "../limiter/core/limiter-state.ts";
import { DAY_MS, HOUR_MS, windowStartMs } from "../limiter/core/quota.ts";
import type { LimiterSnapshot } from "../limiter/core/snapshot.ts";
import { inspectLimiter } from "../limiter/limiter-admin-client.ts";
import { requireKeyRecord } from "./key-service.ts";
import { isFinal } from "./live-usage.ts";
import { type Freshness, figuresOf, type HourUsage, hourName, hoursOfDay } from "./usage-figures.ts";

export type UsageOfKey = {
  readonly keyId: string;
  /** Oldest first, today last. */
  readonly days: readonly (Figures & Freshness & { readonly day: string })[];
  /** Oldest first, the current hour last. Without those of a day that was stored before hours were counted. */
  readonly hours: readonly (HourUsage & Freshness)[];
};

type Count = { readonly days: number; readonly hours: number };

export async function findUsageOfKey(env: Bindings, id: string, count: Count): Promise<UsageOfKey> {
  const db = openDatabase(env.DB);
  const key = await requireKeyRecord(db, id);
  return usageOfKey(db, key, await inspectLimiter(env, key), count);
}

/** The limiter is inspected before: one that does not have a day any more had reported it then. */
export async function usageOfKey(
  db: Database,
  key: NamedKeyRecord,
  snapshot: LimiterSnapshot | undefined,
  count: Count,
): Promise<UsageOfKey> {
  const nowMs = Date.now();
  const days = lastOf(count.days, DAY_MS, nowMs).map(dayName);
  const hours = lastOf(count.hours, HOUR_MS, nowMs);
  const daysOfHours = [...new Set(hours.map(dayName))];
  const [first = ""] = [...days, ...daysOfHours].sort();
  const reported = await listUsageOfKey(db, key.id, first);
  const isLive = (day: string) => snapshot !== undefined || isFinal(day);
  const byDay = new Map([...reported, ...(snapshot?.days ?? [])].map((usage) => [usage.day, usage]));
  return {
    keyId: key.id,
    days: days.map((day) => ({ day, ...figuresOf(byDay.get(day)), live: isLive(day) })),
    hours: pickHours(
      hours,
      daysOfHours.map((day) => byDay.get(day) ?? { day, hours: [] }),
    ).map((usage) => ({ ...usage, live: isLive(usage.hour.slice(0, 10)) })),
  };
}

function pickHours(
  startsMs: readonly number[],
  days: readonly Pick<DailyUsage, "day" | "hours">[],
): HourUsage[] {
  const byHour = new Map(days.flatMap(hoursOfDay).map((usage) => [usage.hour, usage]));
  return startsMs.flatMap((startMs) => byHour.get(hourName(startMs)) ?? []);
}

/** The starts of the last UTC days or hours, oldest first. */
function lastOf(count: number, lengthMs: number, nowMs: number): number[] {
  const lastMs = windowStartMs(nowMs, lengthMs);
  return Array.from({ length: count }, (_, i) => lastMs - (count - 1 - i) * lengthMs);
}
