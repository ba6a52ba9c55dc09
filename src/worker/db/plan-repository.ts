/** D1: the plans and their limits. */
import { eq, type SQL, sql } from "drizzle-orm";
import type { Location } from "../auth/key-record.ts";
import { selectMembers } from "./audit-repository.ts";
import { type Database, type Statement, transact } from "./database.ts";
import { plans } from "./schema.ts";

export type PlanLimits = {
  /** Null: each of the plan's keys must have its own. */
  readonly requestsPerMinute: number | null;
  readonly requestsPerDay: number | null;
};

export type PlanView = PlanLimits & {
  readonly id: string;
  /** How many keys the plan has, without revoked ones. */
  readonly keys: number;
};

export async function listPlans(db: Database): Promise<PlanView[]> {
  return db.all<PlanView>(sql`${selectPlans} order by requests_per_minute nulls last, id`);
}

/** A plan as `PlanView`: as the last statement of a batch, the plan as the batch leaves it. */
export function selectPlan(id: string): SQL {
  return sql`${selectPlans} where id = ${id}`;
}

const selectPlans = sql`
  select id, requests_per_minute as requestsPerMinute, requests_per_day as requestsPerDay, key_count as keys
  from plans`;

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

export function planExists(id: string): SQL {
  return sql`exists (select 1 from plans where id = ${id})`;
}

/** The database refuses to remove a limit that a key relies on. */
export function updatePlanRow(db: Database, id: string, changes: LimitChanges): Statement {
  return db.update(plans).set(changes).where(eq(plans.id, id));
}

export type KeyOfPlan = { readonly id: string; readonly version: number; readonly location: Location | null };

export type UsedKeysOfPlan = {
  readonly keys: readonly KeyOfPlan[];
  /** Whether the plan has no other active key that was ever used. */
  readonly areAll: boolean;
};

/** Of each day this many times `limit` keys of all plans are read, the most used ones. */
const CANDIDATES_PER_KEY = 2;

/**
 * Up to `limit` active keys of the plan that were ever used: the most used ones of each of these days, in order, then by
 * first use, newest first.
 */
export async function listUsedKeysOfPlan(
  db: Database,
  plan: string,
  days: readonly string[],
  limit: number,
): Promise<UsedKeysOfPlan> {
  const newest = await db.all<KeyOfPlan>(sql`
    select id, ${recordVersion(plan)} as version, location from api_keys
    where plan = ${plan} and status = 'active' and first_used_at is not null
    order by first_used_at desc limit ${limit + 1}`);
  if (newest.length <= limit) return { keys: newest, areAll: true };
  const mostUsed = await transact<KeyOfPlan[]>(
    db,
    days.map((day) => selectMostUsedKeys(plan, day, CANDIDATES_PER_KEY * limit)),
  );
  const byId = new Map([...mostUsed.flat(), ...newest].map((key) => [key.id, key]));
  return { keys: [...byId.values()].slice(0, limit), areAll: false };
}

/** The limit comes before the join, which would read every key of the day. */
function selectMostUsedKeys(plan: string, day: string, candidates: number): SQL {
  return sql`
    select id, ${recordVersion(plan)} as version, location
    from (select key_id from daily_usage where day = ${day} order by admitted desc, key_id desc limit ${candidates})
    cross join api_keys on id = key_id
    where plan = ${plan} and status = 'active' and first_used_at is not null`;
}

function recordVersion(plan: string): SQL {
  return sql`max(version, (select version from plans where id = ${plan}))`;
}
