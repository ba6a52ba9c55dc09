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

/** 0: a revoked key may be left without a limit. */
const keyColumns = {
  id: apiKeys.id,
  name: apiKeys.name,
  perMinute: sql<number>`coalesce(${apiKeys.requestsPerMinute}, ${plans.requestsPerMinute}, 0)`.as(
    "per_minute",
  ),
  perDay: sql<number>`coalesce(${apiKeys.requestsPerDay}, ${plans.requestsPerDay}, 0)`.as("per_day"),
};

export type UsedKey = { readonly id: string; readonly name: string; readonly limits: Limits };

export type KeyUse = { readonly key: UsedKey; readonly use: DayUse };

/** The keys that were used on a day, most used first as far as the history knows: the day's last figures come at its end. */
export async function useOfDay(db: Database, day: string, limit: number): Promise<KeyUse[]> {
  const rows = await db
    .select({ ...columns, ...keyColumns })
    .from(dailyUse)
    .innerJoin(apiKeys, eq(apiKeys.id, dailyUse.keyId))
    .innerJoin(plans, eq(plans.id, apiKeys.plan))
    .where(eq(dailyUse.day, day))
    .orderBy(desc(dailyUse.admitted), asc(dailyUse.keyId))
    .limit(limit);
  return rows.map(({ id, name, perMinute, perDay, ...use }) => ({
    key: { id, name, limits: { perMinute, perDay } },
    use,
  }));
}

/**
 * The keys whose limiters may know what the history does not: those most used since `day` first, then those of which it
 * knows no use, newest first, since it may have failed to hear of their first.
 */
export async function keysToLookAt(db: Database, day: string, limit: number): Promise<UsedKey[]> {
  const used = db
    .select({ keyId: dailyUse.keyId, most: sql<number>`max(${dailyUse.admitted})`.as("most") })
    .from(dailyUse)
    .where(gte(dailyUse.day, day))
    .groupBy(dailyUse.keyId)
    .as("used");
  const rows = await db
    .select(keyColumns)
    .from(apiKeys)
    .innerJoin(plans, eq(plans.id, apiKeys.plan))
    .leftJoin(used, eq(used.keyId, apiKeys.id))
    .orderBy(sql`${used.most} desc nulls last`, desc(apiKeys.createdAt), desc(apiKeys.id))
    .limit(limit);
  return rows.map(({ id, name, perMinute, perDay }) => ({ id, name, limits: { perMinute, perDay } }));
}
