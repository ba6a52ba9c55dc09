/** D1: reads each key's daily usage. The limiters write it. */
import { and, asc, desc, eq, gte } from "drizzle-orm";
import type { DailyUsage } from "../limiter/core/limiter-state.ts";
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

export type KeyUsage = {
  readonly key: { readonly id: string; readonly name: string };
  readonly usage: DailyUsage;
};

/** The keys used on a day, most used first by the reported figures. Limiters report the final ones after the day's end. */
export async function listUsageOfDay(db: Database, day: string, limit: number): Promise<KeyUsage[]> {
  return db
    .select({ key: { id: apiKeys.id, name: apiKeys.name }, usage: usageColumns })
    .from(dailyUsage)
    .innerJoin(apiKeys, eq(apiKeys.id, dailyUsage.keyId))
    .where(eq(dailyUsage.day, day))
    .orderBy(desc(dailyUsage.admitted), desc(dailyUsage.keyId))
    .limit(limit);
}
