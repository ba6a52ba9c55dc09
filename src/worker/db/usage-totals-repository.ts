/** D1: the usage of all keys of a plan on a day. Reports do not write it: it is summed once the day is over (ADR-22). */
import { and, asc, eq, gt } from "drizzle-orm";
import type { Figures, HourFigures } from "../limiter/core/hours.ts";
import { type Database, transact } from "./database.ts";
import { apiKeys, dailyUsage, usageTotals } from "./schema.ts";

/** So that no statement holds the database up, and an answer stays below 1 MB. */
const KEYS_PER_PAGE = 2_000;

export type PlanTotals = Figures & {
  readonly plan: string;
  /** How many of its keys were used. */
  readonly keyCount: number;
  readonly hours: readonly HourFigures[];
};

/** By plan. Empty for a day that has not been summed. */
export async function findUsageTotals(db: Database, day: string): Promise<PlanTotals[]> {
  return db
    .select({
      plan: usageTotals.plan,
      keyCount: usageTotals.keyCount,
      admitted: usageTotals.admitted,
      refused: usageTotals.refused,
      refusedWhileBanned: usageTotals.refusedWhileBanned,
      hours: usageTotals.hours,
    })
    .from(usageTotals)
    .where(eq(usageTotals.day, day))
    .orderBy(asc(usageTotals.plan));
}

export type UsagePage = {
  /** Each key's usage, as the totals of its plan that it would be alone. */
  readonly usages: readonly PlanTotals[];
  /** The key to go on after; undefined on the last page. */
  readonly next: string | undefined;
};

/**
 * A page of the keys of a day, in the order of their ids. The caller sums them: to sum hours in SQL takes five times as
 * long, and D1 counts each of them as a row read.
 */
export async function listUsagePage(db: Database, day: string, afterKeyId: string): Promise<UsagePage> {
  const rows = await db
    .select({
      keyId: dailyUsage.keyId,
      plan: apiKeys.plan,
      admitted: dailyUsage.admitted,
      refused: dailyUsage.refused,
      refusedWhileBanned: dailyUsage.refusedWhileBanned,
      hours: dailyUsage.hours,
    })
    .from(dailyUsage)
    .innerJoin(apiKeys, eq(apiKeys.id, dailyUsage.keyId))
    .where(and(eq(dailyUsage.day, day), gt(dailyUsage.keyId, afterKeyId)))
    .orderBy(asc(dailyUsage.keyId))
    .limit(KEYS_PER_PAGE);
  return {
    usages: rows.map(({ keyId: _, ...row }) => ({ ...row, keyCount: 1 })),
    next: rows.length === KEYS_PER_PAGE ? rows.at(-1)?.keyId : undefined,
  };
}

/** Replaces the day's totals. */
export async function replaceUsageTotals(
  db: Database,
  day: string,
  totals: readonly PlanTotals[],
): Promise<void> {
  await transact(db, [
    db.delete(usageTotals).where(eq(usageTotals.day, day)),
    ...totals.map((each) => db.insert(usageTotals).values({ day, ...each })),
  ]);
}
