/** D1: reading what keys did, day by day. The limiters write it. */
import { and, asc, desc, eq, gte, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { apiKeys, dailyUse, plans } from "../db/schema.ts";
import type { DayUse } from "./limiter-state.ts";
import type { Limits } from "./quota.ts";

const columns = {
  day: dailyUse.day,
  admitted: dailyUse.admitted,
  refused: dailyUse.refused,
  refusedWhileBanned: dailyUse.refusedWhileBanned,
};

/** Oldest first. Days without use have no row. */
export async function useOfKey(db: Database, keyId: string, sinceDay: string): Promise<DayUse[]> {
  return db
    .select(columns)
    .from(dailyUse)
    .where(and(eq(dailyUse.keyId, keyId), gte(dailyUse.day, sinceDay)))
    .orderBy(asc(dailyUse.day));
}

export type UsedKey = { readonly id: string; readonly name: string; readonly limits: Limits };

/** The keys that were used on a day, most used first as far as the history knows: the day's last figures come at its end. */
export async function useOfDay(
  db: Database,
  day: string,
  limit: number,
): Promise<{ key: UsedKey; use: DayUse }[]> {
  const rows = await selectUsedKeys(db)
    .where(eq(dailyUse.day, day))
    .orderBy(desc(dailyUse.admitted), asc(dailyUse.keyId))
    .limit(limit);
  return rows.map(({ id, name, perMinute, perDay, ...use }) => ({
    key: { id, name, limits: { perMinute, perDay } },
    use,
  }));
}

/** The keys used on that day or later: those whose limiters may know what the history does not. */
export async function keysUsedSince(db: Database, day: string, limit: number): Promise<UsedKey[]> {
  const rows = await selectUsedKeys(db).where(gte(dailyUse.day, day)).groupBy(dailyUse.keyId).limit(limit);
  return rows.map(({ id, name, perMinute, perDay }) => ({ id, name, limits: { perMinute, perDay } }));
}

function selectUsedKeys(db: Database) {
  return db
    .select({
      ...columns,
      id: apiKeys.id,
      name: apiKeys.name,
      perMinute: sql<number>`coalesce(${apiKeys.requestsPerMinute}, ${plans.requestsPerMinute})`.as(
        "per_minute",
      ),
      perDay: sql<number>`coalesce(${apiKeys.requestsPerDay}, ${plans.requestsPerDay})`.as("per_day"),
    })
    .from(dailyUse)
    .innerJoin(apiKeys, eq(apiKeys.id, dailyUse.keyId))
    .innerJoin(plans, eq(plans.id, apiKeys.plan))
    .$dynamic();
}
