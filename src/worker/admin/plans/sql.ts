/** D1: the plans and their limits. */
import { eq, getTableColumns, sql } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { plans } from "../../db/schema.ts";
import type { Target } from "../change.ts";
import type { PlanView } from "./schema.ts";

export type PlanLimits = Pick<PlanView, "requestsPerMinute" | "requestsPerDay">;
export type LimitChanges = { readonly [K in keyof PlanLimits]?: PlanLimits[K] | undefined };

const SELECT = sql`
  select id, requests_per_minute as requestsPerMinute, requests_per_day as requestsPerDay, key_count as keys, version
  from plans`;

export async function listPlans(db: Database): Promise<PlanView[]> {
  return db.all<PlanView>(sql`${SELECT} order by requests_per_minute nulls last, id`);
}

export function planTarget(id: string): Target<PlanView, PlanView> {
  return {
    object: id,
    row: sql`plans where id = ${id}`,
    members: getTableColumns(plans),
    select: sql`${SELECT} where id = ${id}`,
    view: (plan) => plan,
    missing: "No plan has this id.",
  };
}

export async function findPlanLimits(db: Database, id: string): Promise<PlanLimits | undefined> {
  return db
    .select({ requestsPerMinute: plans.requestsPerMinute, requestsPerDay: plans.requestsPerDay })
    .from(plans)
    .where(eq(plans.id, id))
    .get();
}
