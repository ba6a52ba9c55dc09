/** SQL of what a key is now: its plan, the limits in force, its status. Only this file says which limit of a key counts. */
import { type SQL, sql } from "drizzle-orm";

export type LimitsSql = { readonly perMinute: SQL; readonly perDay: SQL };

/** The plan of the key `k` at a time: from its midnight on the planned one, also before the cron makes the change. */
export function planAt(seconds: number): SQL {
  return sql`iif(k.next_plan_from <= ${seconds}, k.next_plan, k.plan)`;
}

/** When the planned plan of the key `k` begins. NULL: none is planned, or it has begun. */
export function nextPlanFromAfter(seconds: number): SQL {
  return sql`iif(k.next_plan_from > ${seconds}, k.next_plan_from, null)`;
}

/** The limits of the key `k` without temporary limits: its own, or else of the first of these plans that there is. */
export function permanentLimits(...plans: readonly string[]): LimitsSql {
  const limit = (column: string) =>
    sql.raw(`coalesce(${["k", ...plans].map((row) => `${row}.${column}`).join(", ")}, 0)`);
  return { perMinute: limit("requests_per_minute"), perDay: limit("requests_per_day") };
}

/**
 * The limits of the key `k`, whose plan at this time is `p`: the temporary limit until its end, or the key's own
 * limit, or the plan's limit. 0 only for a revoked key whose plan has lost its limit.
 */
export function limitsSqlAt(nowSeconds: number): LimitsSql {
  const limit = (column: string, permanent: SQL) =>
    sql`coalesce(iif(${isTemporarilyLimited(nowSeconds)}, ${sql.raw(`k.temporary_${column}`)}, null), ${permanent})`;
  const { perMinute, perDay } = permanentLimits("p");
  return {
    perMinute: limit("requests_per_minute", perMinute),
    perDay: limit("requests_per_day", perDay),
  };
}

/** The end of the temporary limits of the key `k`. NULL: no temporary limits are in force. */
export function temporaryUntilAt(nowSeconds: number): SQL {
  return sql`iif(${isTemporarilyLimited(nowSeconds)}, k.temporary_until, null)`;
}

/** `nowSeconds` is rounded down, so this is false from the very millisecond at which the limits end. */
function isTemporarilyLimited(nowSeconds: number): SQL {
  return sql`k.temporary_until > ${nowSeconds}`;
}

/** The status of the key `k`. */
export function statusAt(nowSeconds: number): SQL {
  return sql`case
    when k.status <> 'active' then k.status
    when k.expires_at <= ${nowSeconds} then 'expired'
    when exists (select 1 from bans where ${isOfKeyAndLive(nowSeconds)}) then 'banned'
    else 'active' end`;
}

/** Whether a ban is of the key `k`, and live. */
export function isOfKeyAndLive(nowSeconds: number): SQL {
  return sql`key_id = k.id and ends_at > ${nowSeconds} and lifted_at is null`;
}
