/** The usage of all keys on one day: reported usage from D1, and what the limiters have not reported yet from the limiters. */
import { type Bindings, settingsOf } from "../context.ts";
import { type Database, openDatabase } from "../db/database.ts";
import { type KeyUsage, listUsageOfDay, type UsagePosition } from "../db/usage-repository.ts";
import { findUsageTotals, type PlanTotals } from "../db/usage-totals-repository.ts";
import type { UsageSort } from "../db/values.ts";
import type { Figures } from "../limiter/core/hours.ts";
import { dayName } from "../limiter/core/limiter-state.ts";
import { DAY_MS } from "../limiter/core/quota.ts";
import { inspectCandidates, isFinal, listKeysToInspect, MAX_LIMITERS_INSPECTED } from "./live-usage.ts";
import { type Freshness, figuresOf, type HourUsage, hoursOfDay, percentOf } from "./usage-figures.ts";
import { sumByPlan, sumOf, type UsageSum } from "./usage-sums.ts";

export type KeyUsageView = Figures &
  Freshness & {
    readonly keyId: string;
    readonly keyName: string;
    readonly ownerName: string | null;
    readonly ownerEmail: string | null;
    readonly plan: string;
    /** The effective limits of today. */
    readonly limits: { readonly requestsPerMinute: number; readonly requestsPerDay: number };
    /** Of the day's limit, with one decimal; null if the limit of that day is not known. */
    readonly percent: number | null;
  };

type Total = Figures & { readonly keyCount: number; readonly hours: readonly HourUsage[] };

export type UsageOfDay = {
  readonly day: string;
  readonly sort: UsageSort;
  readonly keys: readonly KeyUsageView[];
  /** Where the next page begins; null on the last page, and for lists without further pages. */
  readonly next: UsagePosition | null;
  readonly total: Total;
  readonly plans: readonly (Total & { readonly plan: string })[];
  /** Whether `total` and `plans` have every key that was used on the day, with its final figures or, today, those so far. */
  readonly complete: boolean;
};

type DayQuery = {
  readonly day?: string | undefined;
  readonly sort: UsageSort;
  readonly limit: number;
  readonly after?: UsagePosition | undefined;
};

/** The keys used on a day, today by default. Live figures cannot be had of more keys than limiters are inspected. */
export async function findUsageOfDay(
  env: Bindings,
  { day = dayName(Date.now()), sort, limit, after }: DayQuery,
): Promise<UsageOfDay> {
  const db = openDatabase(env.DB);
  const summed = await findUsageTotals(db, day);
  const isSummed = summed.length > 0;
  const hasFinalSums = isFinal(day) && isSummed;
  const rows = hasFinalSums ? limit : Math.max(limit, MAX_LIMITERS_INSPECTED);
  // A list of an unsummed day has a next page only if no limiter had more for its first one.
  const live = hasFinalSums || after ? NOT_INSPECTED : await liveUsageOfDay(env, db, day, sort);
  const areFinal = isFinal(day) && live.usages.length === 0;
  // Read last: a limiter that does not have the day any more had reported it when it was inspected.
  const reported = await listUsageOfDay(db, day, sort, rows, after);
  // Of two figures of one key those of the limiter count.
  const usages = [...new Map([...reported, ...live.usages].map((each) => [each.key.id, each])).values()];
  const views = usages.map((each) => toView(each, areFinal || live.keyIds.has(each.key.id)));
  // Final figures are in the order of D1, which the next page goes on from.
  const keys = (areFinal ? views : views.sort(bySort(sort))).slice(0, limit);
  const hasAllKeys = reported.length < rows && !after;
  // Some limiters may have reported the day before only after the cron summed it.
  const usesSums = hasFinalSums || (isSummed && !hasAllKeys);
  return {
    day,
    sort,
    keys,
    next: areFinal && sort === "admitted" && keys.length === limit ? positionOf(keys.at(-1)) : null,
    ...totalsOf(day, usesSums ? summed : sumByPlan(usages.map(toTotals))),
    complete: isKept(env, day) && (hasFinalSums || (hasAllKeys && live.areAll)),
  };
}

/** Of an earlier day, D1 may have deleted some rows or all. */
function isKept(env: Bindings, day: string): boolean {
  return day >= dayName(Date.now() - settingsOf(env).retentionDays.usage * DAY_MS);
}

function totalsOf(day: string, plans: readonly PlanTotals[]): Pick<UsageOfDay, "total" | "plans"> {
  return {
    total: toTotal(day, sumOf(plans)),
    plans: plans.map((each) => ({ plan: each.plan, ...toTotal(day, each) })),
  };
}

function positionOf(last: KeyUsageView | undefined): UsagePosition | null {
  return last === undefined ? null : { value: last.admitted, id: last.keyId };
}

type LiveUsage = {
  readonly usages: readonly KeyUsage[];
  /** Of the limiters that were reached. Some have no usage of the day that D1 does not have. */
  readonly keyIds: ReadonlySet<string>;
  /** Whether no other limiter can have usage of the day. */
  readonly areAll: boolean;
};

const NOT_INSPECTED: LiveUsage = { usages: [], keyIds: new Set(), areAll: false };

async function liveUsageOfDay(env: Bindings, db: Database, day: string, sort: UsageSort): Promise<LiveUsage> {
  const candidates = await listKeysToInspect(db, Date.now(), sort);
  const { inspected, areAll } = await inspectCandidates(env, candidates);
  const usages = inspected.flatMap(({ key, snapshot }) => {
    const usage = snapshot.days.find((candidate) => candidate.day === day);
    if (!usage) return [];
    return [{ key, limits: key.limits, usage, percent: percentOf(usage.admitted, key.limits.perDay) }];
  });
  return { usages, keyIds: new Set(inspected.map(({ key }) => key.id)), areAll };
}

function toView({ key, limits, usage, percent }: KeyUsage, live: boolean): KeyUsageView {
  return {
    keyId: key.id,
    keyName: key.name,
    ownerName: key.ownerName,
    ownerEmail: key.ownerEmail,
    plan: key.plan,
    limits: { requestsPerMinute: limits.perMinute, requestsPerDay: limits.perDay },
    // Of the limit that is effective now, for all keys alike.
    percent: usage.day === dayName(Date.now()) ? percentOf(usage.admitted, limits.perDay) : percent,
    live,
    ...figuresOf(usage),
  };
}

function bySort(sort: UsageSort): (a: KeyUsageView, b: KeyUsageView) => number {
  return (a, b) =>
    (b[sort] ?? -1) - (a[sort] ?? -1) ||
    b.admitted - a.admitted ||
    b.refused - a.refused ||
    a.keyId.localeCompare(b.keyId);
}

function toTotals({ key, usage }: KeyUsage): PlanTotals {
  return { plan: key.plan, keyCount: 1, ...figuresOf(usage), hours: usage.hours };
}

function toTotal(day: string, { keyCount, hours, ...figures }: UsageSum): Total {
  return { keyCount, ...figuresOf(figures), hours: hoursOfDay({ day, hours }) };
}
