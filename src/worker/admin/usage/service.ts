/** The usage of all keys on one day, and of one key by day and by hour, as the limiters have reported it (ADR-22). */
import type { Bindings } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import type { UsageSort } from "../../db/values.ts";
import { type LimiterAddress, reachLimiter } from "../../limit.ts";
import { DAY_SECONDS, dayName, HOUR_SECONDS, nowSeconds, rfc3339 } from "../../time.ts";
import { requireKey } from "../keys/service.ts";
import {
  type Figures,
  type HourRow,
  type KeyUsage,
  listUsageOfKey,
  readUsageOfDay,
  type UsagePosition,
} from "./sql.ts";

/** `hour` is when it begins, as in 2026-11-21T10:00:00Z. */
export type HourUsage = Figures & { readonly hour: string };

export type KeyUsageView = Figures & {
  readonly keyId: string;
  readonly keyName: string;
  readonly ownerName: string | null;
  readonly ownerEmail: string | null;
  readonly plan: string;
  /** The limits in force now. */
  readonly limits: { readonly requestsPerMinute: number; readonly requestsPerDay: number };
  /** Of the limit of the day in force now, with one decimal. */
  readonly percent: number;
};

type Total = Figures & { readonly keyCount: number; readonly hours: readonly HourUsage[] };

export type UsageOfDay = {
  readonly day: string;
  readonly sort: UsageSort;
  /** All hours before this one are reported. */
  readonly asOf: string;
  readonly keys: readonly KeyUsageView[];
  /** Where the next page begins; null on the last page. */
  readonly next: UsagePosition | null;
  readonly total: Total;
  readonly plans: readonly (Total & { readonly plan: string })[];
};

type DayQuery = {
  readonly day?: string | undefined;
  readonly sort: UsageSort;
  readonly limit: number;
  readonly after?: UsagePosition | undefined;
};

export async function findUsageOfDay(
  env: Bindings,
  { day = dayName(nowSeconds()), sort, limit, after }: DayQuery,
): Promise<UsageOfDay> {
  const startSeconds = Date.parse(`${day}T00:00:00Z`) / 1000;
  const page = { sort, limit, after };
  const { keys, plans, hours } = await readUsageOfDay(openDatabase(env.DB), startSeconds, page);
  const last = keys.length === limit ? keys.at(-1) : undefined;
  return {
    day,
    sort,
    asOf: rfc3339(Math.min(startSeconds + DAY_SECONDS, startOf(nowSeconds(), HOUR_SECONDS) - HOUR_SECONDS)),
    keys: keys.map(toView),
    next: last ? { value: last[sort], id: last.keyId } : null,
    total: totalOf(startSeconds, plans, hours),
    plans: plans.map((each) => ({
      plan: each.plan,
      ...totalOf(
        startSeconds,
        [each],
        hours.filter(({ plan }) => plan === each.plan),
      ),
    })),
  };
}

function toView({ perMinute, perDay, ...usage }: KeyUsage): KeyUsageView {
  return { ...usage, limits: { requestsPerMinute: perMinute, requestsPerDay: perDay } };
}

function totalOf(
  startSeconds: number,
  plans: readonly (Figures & { readonly keyCount: number })[],
  hours: readonly (Figures & { readonly hour: number })[],
): Total {
  return {
    keyCount: plans.reduce((sum, { keyCount }) => sum + keyCount, 0),
    ...sumOf(plans),
    hours: startsFrom(startSeconds, DAY_SECONDS / HOUR_SECONDS, HOUR_SECONDS).map((start) => ({
      hour: rfc3339(start),
      ...sumOf(hours.filter(({ hour }) => hour === start)),
    })),
  };
}

export type UsageOfKey = {
  readonly keyId: string;
  /** Oldest first, today last. */
  readonly days: readonly (Figures & { readonly day: string })[];
  /** Oldest first, the current hour last. */
  readonly hours: readonly HourUsage[];
  /** Whether the limiter was reached. If not, what it has not reported is missing. */
  readonly complete: boolean;
};

export async function findUsageOfKey(
  env: Bindings,
  id: string,
  count: { readonly days: number; readonly hours: number },
): Promise<UsageOfKey> {
  const db = openDatabase(env.DB);
  const complete = await reportNow(env, await requireKey(db, id));
  const days = lastStarts(count.days, DAY_SECONDS);
  const hours = lastStarts(count.hours, HOUR_SECONDS);
  const rows = await listUsageOfKey(db, id, Math.min(days[0] ?? nowSeconds(), hours[0] ?? nowSeconds()));
  const within = (start: number, seconds: number) =>
    sumOf(rows.filter(({ hour }) => hour >= start && hour < start + seconds));
  return {
    keyId: id,
    days: days.map((start) => ({ day: dayName(start), ...within(start, DAY_SECONDS) })),
    hours: hours.map((start) => ({ hour: rfc3339(start), ...within(start, HOUR_SECONDS) })),
    complete,
  };
}

/** By what a key was refused in a minute, and how often: the name of a window, or `ban`. */
export type RefusedHour = HourUsage & {
  readonly minutes: readonly { readonly minute: number; readonly by: Readonly<Record<string, number>> }[];
};

export function toRefusedHour({ hour, refusedMinutes, ...figures }: HourRow): RefusedHour {
  // `writeReport` made this text.
  const minutes = JSON.parse(refusedMinutes ?? "[]") as RefusedHour["minutes"];
  return { hour: rfc3339(hour), ...figures, minutes };
}

/** The key's limiter reports what it has not reported. False if it cannot be reached. */
export async function reportNow(
  env: Bindings,
  key: LimiterAddress & { readonly firstUsedAt: string | null },
): Promise<boolean> {
  if (key.firstUsedAt === null) return true;
  return (await reachLimiter(env, key, async (limiter) => limiter.flush().then(() => true))) ?? false;
}

export function lastStarts(count: number, seconds: number): number[] {
  return startsFrom(startOf(nowSeconds(), seconds) - (count - 1) * seconds, count, seconds);
}

function startsFrom(firstSeconds: number, count: number, seconds: number): number[] {
  return Array.from({ length: count }, (_, i) => firstSeconds + i * seconds);
}

function startOf(atSeconds: number, seconds: number): number {
  return Math.floor(atSeconds / seconds) * seconds;
}

export function sumOf(parts: readonly Figures[]): Figures {
  const add = (name: keyof Figures) => parts.reduce((sum, part) => sum + part[name], 0);
  return {
    admitted: add("admitted"),
    refused: add("refused"),
    refusedWhileBanned: add("refusedWhileBanned"),
  };
}
