/** D1: the plans and their limits. */
import { eq, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { apiKeys, dailyUse, plans } from "../db/schema.ts";

export type PlanView = {
  readonly id: string;
  /** Null: the plan's keys bring their own. */
  readonly requestsPerMinute: number | null;
  readonly requestsPerDay: number | null;
  readonly keys: number;
};

export async function listPlans(db: Database): Promise<PlanView[]> {
  return db
    .select({
      id: plans.id,
      requestsPerMinute: plans.requestsPerMinute,
      requestsPerDay: plans.requestsPerDay,
      keys: sql<number>`(select count(*) from ${apiKeys} where ${apiKeys.plan} = ${plans.id} and ${apiKeys.status} <> 'revoked')`.as(
        "keys",
      ),
    })
    .from(plans)
    .orderBy(sql`${plans.requestsPerMinute} nulls last`);
}

export async function getPlan(db: Database, id: string): Promise<PlanView | undefined> {
  return (await listPlans(db)).find((plan) => plan.id === id);
}

/** The database refuses to take a limit away that a key relies on. */
export function changePlan(
  db: Database,
  id: string,
  changes: { requestsPerMinute?: number | null; requestsPerDay?: number | null },
) {
  return db.update(plans).set(changes).where(eq(plans.id, id));
}

/** The plan's keys used since `day`: only of those can a copy be in some isolate's cache. */
export async function versionsInUse(
  db: Database,
  plan: string,
  day: string,
  limit: number,
): Promise<{ id: string; version: number }[]> {
  return db
    .select({ id: apiKeys.id, version: apiKeys.version })
    .from(apiKeys)
    .where(
      sql`${apiKeys.plan} = ${plan} and exists (
        select 1 from ${dailyUse} where ${dailyUse.keyId} = ${apiKeys.id} and ${dailyUse.day} >= ${day})`,
    )
    .limit(limit);
}
