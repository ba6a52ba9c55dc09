/** D1: the plans and their limits. */
import { getTableColumns, sql } from "drizzle-orm";
import { type Database, rfc3339Sql } from "../../db/database.ts";
import { plans } from "../../db/schema.ts";
import { midnightAfter } from "../../text/time.ts";
import type { Kind, Target } from "../change.ts";
import { admittedOn } from "../usage/sql.ts";
import type { LimitName, PlanView } from "./schema.ts";

const SELECT = sql`
  select id, requests_per_minute as requestsPerMinute, requests_per_day as requestsPerDay, alert_percents as alertPercents, key_count as keys, version,
    (select ${rfc3339Sql(sql`at`)} from audit_log where object = plans.id order by id desc limit 1) as changedAt
  from plans`;

export async function listPlans(db: Database): Promise<PlanView[]> {
  return (await db.all<PlanRow>(sql`${SELECT} order by requests_per_minute nulls last, id`)).map(toPlanView);
}

/** A plan whose shares are JSON text. */
type PlanRow = Omit<PlanView, "alertPercents"> & { readonly alertPercents: string | null };

function toPlanView({ alertPercents, ...plan }: PlanRow): PlanView {
  return { ...plan, alertPercents: alertPercents === null ? null : JSON.parse(alertPercents) };
}

export const PLANS = {
  table: plans,
  noun: "plan",
  title: sql`'Plan ' || upper(substr(plans.id, 1, 1)) || substr(plans.id, 2)`,
  members: { ...getTableColumns(plans), alertPercents: sql`json(alert_percents)` },
} satisfies Kind;

export function planTarget(id: string): Target<PlanRow, PlanView> {
  return { kind: PLANS, id, select: sql`${SELECT} where id = ${id}`, view: toPlanView };
}

/** Counts the keys of the plan, and those of them that have no limits of their own. */
export function findRelyingKeys(db: Database, id: string) {
  return db.get<Readonly<Record<LimitName | "keys", number>>>(sql`
    select key_count as keys, keys_without_minute_limit as requestsPerMinute, keys_without_day_limit as requestsPerDay
    from plans where id = ${id}`);
}

/** Counts the keys with the plan's daily limit that have used this much of the present day. */
export async function countKeysOver(
  db: Database,
  id: string,
  requestsPerDay: number,
  nowSeconds: number,
): Promise<number> {
  const { count } = await db.get<{ count: number }>(sql`
    select count(*) as count from api_keys k
    where k.plan = ${id} and k.status <> 'revoked' and k.requests_per_day is null
      and (k.temporary_requests_per_day is null or k.temporary_until <= ${nowSeconds})
      and ${admittedOn(midnightAfter(nowSeconds, 0))} >= ${requestsPerDay}`);
  return count;
}
