/** D1: reads each key's daily usage. The limiters write it. */
import { and, asc, between, desc, eq, not, type SQL, sql } from "drizzle-orm";
import type { DailyUsage } from "../limiter/core/limiter-state.ts";
import type { Database } from "./database.ts";
import { apiKeys, dailyUsage, plans } from "./schema.ts";
import { MIN_SORTED_PERCENT, type UsageSort } from "./values.ts";

/** The conditions of the partial indexes. SQLite uses them for conditions without parameters only. */
export const IN_INDEX_BY = {
  refused: sql`${dailyUsage.refused} > 0`,
  percent: sql`${dailyUsage.percent} >= ${sql.raw(String(MIN_SORTED_PERCENT))}`,
};

const usageColumns = {
  day: dailyUsage.day,
  admitted: dailyUsage.admitted,
  refused: dailyUsage.refused,
  refusedWhileBanned: dailyUsage.refusedWhileBanned,
  hours: dailyUsage.hours,
};

/** Oldest first. A day without usage has no row. */
export async function listUsageOfKey(
  db: Database,
  keyId: string,
  firstDay: string,
  lastDay: string,
): Promise<DailyUsage[]> {
  return db
    .select(usageColumns)
    .from(dailyUsage)
    .where(and(eq(dailyUsage.keyId, keyId), between(dailyUsage.day, firstDay, lastDay)))
    .orderBy(asc(dailyUsage.day));
}

export type KeyUsage = {
  readonly key: {
    readonly id: string;
    readonly name: string;
    readonly ownerName: string | null;
    readonly ownerEmail: string | null;
    readonly plan: string;
  };
  /** The effective limits of today. */
  readonly limits: { readonly perMinute: number; readonly perDay: number };
  readonly usage: DailyUsage;
  /** Of the day's limit that was effective when the usage was reported; null if that is not known. */
  readonly percent: number | null;
};

/** The last key of a page in the order of admitted requests. */
export type UsagePosition = { readonly value: number; readonly id: string };

/**
 * The keys used on a day, by the reported figures. Limiters report the final ones after the day's end. Keys that were not
 * refused, or that used less than MIN_SORTED_PERCENT of their limit, follow the others, most used first.
 */
export async function listUsageOfDay(
  db: Database,
  day: string,
  sort: UsageSort,
  limit: number,
  after?: UsagePosition,
): Promise<KeyUsage[]> {
  if (sort === "admitted") {
    const { admitted, keyId } = dailyUsage;
    const follows = after && sql`(${admitted}, ${keyId}) < (${after.value}, ${after.id})`;
    return selectUsage(db, day, desc(admitted), limit, follows);
  }
  const first = await selectUsage(db, day, desc(dailyUsage[sort]), limit, IN_INDEX_BY[sort]);
  const left = limit - first.length;
  if (left === 0) return first;
  const rest = not(sql`coalesce(${IN_INDEX_BY[sort]}, false)`);
  return [...first, ...(await selectUsage(db, day, desc(dailyUsage.admitted), left, rest))];
}

/** The limits are as in the view `key_limits`, which would read each key a second time. */
function selectUsage(db: Database, day: string, order: SQL, limit: number, where?: SQL): Promise<KeyUsage[]> {
  return db
    .select({
      key: {
        id: apiKeys.id,
        name: apiKeys.name,
        ownerName: apiKeys.ownerName,
        ownerEmail: apiKeys.ownerEmail,
        plan: apiKeys.plan,
      },
      limits: {
        perMinute: sql<number>`coalesce(${apiKeys.requestsPerMinute}, ${plans.requestsPerMinute}, 0)`,
        perDay: sql<number>`coalesce(${apiKeys.requestsPerDay}, ${plans.requestsPerDay}, 0)`,
      },
      usage: usageColumns,
      percent: dailyUsage.percent,
    })
    .from(dailyUsage)
    .innerJoin(apiKeys, eq(apiKeys.id, dailyUsage.keyId))
    .innerJoin(plans, eq(plans.id, apiKeys.plan))
    .where(and(eq(dailyUsage.day, day), where))
    .orderBy(order, desc(dailyUsage.keyId))
    .limit(limit);
}
