/** D1: reads each key's daily usage. The limiters write it. */
import { and, asc, desc, eq, gte, sql } from "drizzle-orm";
import type { DailyUsage } from "../limiter/core/limiter-state.ts";
import type { Limits } from "../limiter/core/quota.ts";
import type { Database } from "./database.ts";
import { apiKeys, dailyUsage } from "./schema.ts";

const usageColumns = {
  day: dailyUsage.day,
  admitted: dailyUsage.admitted,
  refused: dailyUsage.refused,
  refusedWhileBanned: dailyUsage.refusedWhileBanned,
};

/** Oldest first. A day without usage has no row. */
export async function listUsageOfKey(db: Database, keyId: string, sinceDay: string): Promise<DailyUsage[]> {
  return db
    .select(usageColumns)
    .from(dailyUsage)
    .where(and(eq(dailyUsage.keyId, keyId), gte(dailyUsage.day, sinceDay)))
    .orderBy(asc(dailyUsage.day));
}

export type UsedKey = { readonly id: string; readonly name: string; readonly limits: Limits };

export type KeyUsage = { readonly key: Omit<UsedKey, "limits">; readonly usage: DailyUsage };

/** The keys used on a day, most used first as far as limiters have reported: they report final figures at the day's end. */
export async function listUsageOfDay(db: Database, day: string, limit: number): Promise<KeyUsage[]> {
  return db
    .select({ key: { id: apiKeys.id, name: apiKeys.name }, usage: usageColumns })
    .from(dailyUsage)
    .innerJoin(apiKeys, eq(apiKeys.id, dailyUsage.keyId))
    .where(eq(dailyUsage.day, day))
    .orderBy(desc(dailyUsage.admitted), asc(dailyUsage.keyId))
    .limit(limit);
}

/**
 * The keys whose limiters may have usage or bans that D1 does not: those most used since `day` first, then those
 * without reported usage, newest first, since the report of their first use may have failed.
 */
export async function keysToInspect(db: Database, day: string, limit: number): Promise<UsedKey[]> {
  const order = sql`order by most desc nulls last, created_at desc, id desc`;
  const rows = await db.all<{ id: string; name: string; per_minute: number; per_day: number }>(sql`
    with used as (select key_id, max(admitted) as most from daily_usage where day >= ${day} group by key_id),
      candidates as (
        select id, name, most, created_at from api_keys left join used on used.key_id = api_keys.id
        ${order} limit ${limit}
      )
    select id, name, per_minute, per_day
    from candidates cross join key_limits on key_limits.key_id = candidates.id ${order}`);
  return rows.map(({ id, name, per_minute, per_day }) => ({
    id,
    name,
    limits: { perMinute: per_minute, perDay: per_day },
  }));
}
