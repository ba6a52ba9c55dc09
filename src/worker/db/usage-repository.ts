/** D1: reading what keys did, day by day. The limiters write it. */
import { and, asc, desc, eq, gte, sql } from "drizzle-orm";
import type { DailyUsage } from "../limiter/core/limiter-state.ts";
import type { Limits } from "../limiter/core/quota.ts";
import type { Database } from "./database.ts";
import { apiKeys, dailyUsage, plans } from "./schema.ts";

const columns = {
  day: dailyUsage.day,
  admitted: dailyUsage.admitted,
  refused: dailyUsage.refused,
  refusedWhileBanned: dailyUsage.refusedWhileBanned,
};

/** Oldest first. Days without use have no row. */
export async function listUsageOfKey(db: Database, keyId: string, sinceDay: string): Promise<DailyUsage[]> {
  return db
    .select(columns)
    .from(dailyUsage)
    .where(and(eq(dailyUsage.keyId, keyId), gte(dailyUsage.day, sinceDay)))
    .orderBy(asc(dailyUsage.day));
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

export type KeyUsage = { readonly key: UsedKey; readonly use: DailyUsage };

/** The keys that were used on a day, most used first as far as the history knows: the day's last figures come at its end. */
export async function listUsageOfDay(db: Database, day: string, limit: number): Promise<KeyUsage[]> {
  const rows = await db
    .select({ ...columns, ...keyColumns })
    .from(dailyUsage)
    .innerJoin(apiKeys, eq(apiKeys.id, dailyUsage.keyId))
    .innerJoin(plans, eq(plans.id, apiKeys.plan))
    .where(eq(dailyUsage.day, day))
    .orderBy(desc(dailyUsage.admitted), asc(dailyUsage.keyId))
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
export async function keysToInspect(db: Database, day: string, limit: number): Promise<UsedKey[]> {
  const used = db
    .select({ keyId: dailyUsage.keyId, most: sql<number>`max(${dailyUsage.admitted})`.as("most") })
    .from(dailyUsage)
    .where(gte(dailyUsage.day, day))
    .groupBy(dailyUsage.keyId)
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
