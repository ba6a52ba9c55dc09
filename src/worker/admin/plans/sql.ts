/** D1: the plans and their limits. */
import { and, eq, type SQL, sql } from "drizzle-orm";
import { type Database, hasVersion, type Statement } from "../../db/database.ts";
import { plans } from "../../db/schema.ts";
import { selectMembers } from "../audit/sql.ts";
import type { PlanView } from "./schema.ts";

export type PlanLimits = Pick<PlanView, "requestsPerMinute" | "requestsPerDay">;

export async function listPlans(db: Database): Promise<PlanView[]> {
  return db.all<PlanView>(sql`${selectPlans} order by requests_per_minute nulls last, id`);
}

/** A plan as `PlanView`: as the last statement of a batch, the plan as the batch leaves it. */
export function selectPlan(id: string): SQL {
  return sql`${selectPlans} where id = ${id}`;
}

const selectPlans = sql`
  select id, requests_per_minute as requestsPerMinute, requests_per_day as requestsPerDay, key_count as keys, version
  from plans`;

export async function findPlan(db: Database, id: string): Promise<PlanView | undefined> {
  return db.get<PlanView | undefined>(selectPlan(id));
}

export async function findPlanLimits(db: Database, id: string): Promise<PlanLimits | undefined> {
  return db
    .select({ requestsPerMinute: plans.requestsPerMinute, requestsPerDay: plans.requestsPerDay })
    .from(plans)
    .where(eq(plans.id, id))
    .get();
}

export type LimitChanges = { readonly [K in keyof PlanLimits]?: PlanLimits[K] | undefined };

/** For the audit log: these limits of the plan, as the change replaces them. */
export function selectPlanMembers(id: string, names: readonly string[]): SQL {
  const limits = { requestsPerMinute: sql`requests_per_minute`, requestsPerDay: sql`requests_per_day` };
  return selectMembers(limits, names, sql`plans where id = ${id}`);
}

/** Whether the plan exists at this point of the batch, with the expected version. */
export function planExists(id: string, expectedVersion: number | undefined): SQL {
  return sql`exists (select 1 from plans where id = ${id} and ${hasVersion(expectedVersion)})`;
}

/** The database refuses to remove a limit that a key relies on. */
export function updatePlanRow(db: Database, id: string, changes: LimitChanges, condition: SQL): Statement {
  return db
    .update(plans)
    .set({ ...changes, version: sql`${plans.version} + 1` })
    .where(and(eq(plans.id, id), condition));
}
