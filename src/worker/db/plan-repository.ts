/** D1: the plans and their limits. */
import { eq, sql } from "drizzle-orm";
import type { Database } from "./database.ts";
import { plans } from "./schema.ts";

export type PlanView = {
  readonly id: string;
  /** Null: the plan's keys bring their own. */
  readonly requestsPerMinute: number | null;
  readonly requestsPerDay: number | null;
  readonly keys: number;
};

export async function listPlans(db: Database): Promise<PlanView[]> {
  return db.all<PlanView>(sql`
    select id, requests_per_minute as requestsPerMinute, requests_per_day as requestsPerDay,
      (select count(*) from api_keys where plan = plans.id and status <> 'revoked') as keys
    from plans order by requests_per_minute nulls last, id`);
}

export async function getPlan(db: Database, id: string): Promise<PlanView | undefined> {
  return (await listPlans(db)).find((plan) => plan.id === id);
}

/** The database refuses to take a limit away that a key relies on. */
export function changePlan(
  db: Database,
  id: string,
  changes: { requestsPerMinute?: number | null | undefined; requestsPerDay?: number | null | undefined },
) {
  return db.update(plans).set(changes).where(eq(plans.id, id));
}

/** The plan's active keys: those used since `day` first, then the newest, of whose first use the history may not know yet. */
export async function versionsOfPlan(
  db: Database,
  plan: string,
  day: string,
  limit: number,
): Promise<{ id: string; version: number }[]> {
  return db.all<{ id: string; version: number }>(sql`
    select id, version from api_keys where plan = ${plan} and status = 'active'
    order by exists (select 1 from daily_usage where key_id = api_keys.id and day >= ${day}) desc, created_at desc
    limit ${limit}`);
}
