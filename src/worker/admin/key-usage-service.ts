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
  /** Oldest first, the current hour last. */
  readonly hours: readonly (HourUsage & Freshness)[];
};

type Count = { readonly days: number; readonly hours: number };

export async function findUsageOfKey(env: Bindings, id: string, count: Count): Promise<UsageOfKey> {
  const db = openDatabase(env.DB);
  const key = await requireKeyRecord(db, id);
  const snapshot = await inspectLimiter(env, key);
  const nowMs = Date.now();
  const lastOf = (length: number, lengthMs: number) =>
    startsBetween(nowMs - (length - 1) * lengthMs, nowMs, lengthMs);
  return usageOfKey(db, key, snapshot, {
    days: lastOf(count.days, DAY_MS),
    hours: lastOf(count.hours, HOUR_MS),
  });
}

/**
 * Of these days and hours, by their starts. The limiter is inspected before: one that does not have a day any more had
 * reported it then.
 */
export async function usageOfKey(
  db: Database,
  key: NamedKeyRecord,
  snapshot: LimiterSnapshot | undefined,
  starts: { readonly days: readonly number[]; readonly hours: readonly number[] },
): Promise<UsageOfKey> {
  const days = starts.days.map(dayName);
  const daysOfHours = [...new Set(starts.hours.map(dayName))];
  const all = [...days, ...daysOfHours].sort();
  const reported = await listUsageOfKey(db, key.id, all[0] ?? "", all.at(-1) ?? "");
  const isLive = (day: string) => snapshot !== undefined || isFinal(day);
  const byDay = new Map([...reported, ...(snapshot?.days ?? [])].map((usage) => [usage.day, usage]));
  return {
    keyId: key.id,
    days: days.map((day) => ({ day, ...figuresOf(byDay.get(day)), live: isLive(day) })),
    hours: pickHours(
      starts.hours,
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

/** The starts of the UTC days or hours from that of one time to that of another, oldest first. */
export function startsBetween(fromMs: number, toMs: number, lengthMs: number): number[] {
  const firstMs = windowStartMs(fromMs, lengthMs);
  const length = Math.floor((toMs - firstMs) / lengthMs) + 1;
  return Array.from({ length }, (_, i) => firstMs + i * lengthMs);
}
