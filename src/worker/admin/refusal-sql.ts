/** D1: why a row cannot change, as SQL of a text such as `is revoked`. The batch of a change asks it, and so does the list of what can be undone. */
import { type SQL, sql } from "drizzle-orm";
import type { Author } from "../context.ts";
import { DAY_SECONDS } from "../text/time.ts";
import type { AuditCall } from "./says.ts";

export const CHANGED_SINCE = "has changed since";

/** Of a row of `api_keys` that gets the members of this JSON object. Null: it can. */
export function keyRefusal(becomes: SQL): SQL {
  const after = (member: string, now: SQL, part = "") =>
    sql`iif(json_type(${becomes}, ${`$.${member}`}) is null, ${now}, ${becomes} ->> ${`$.${member}${part}`})`;
  const perMinute = after("requestsPerMinute", sql`api_keys.requests_per_minute`);
  const perDay = after("requestsPerDay", sql`api_keys.requests_per_day`);
  const now = limitsRefusal(after("plan", sql`api_keys.plan`), perMinute, perDay);
  const then = limitsRefusal(after("nextPlan", sql`api_keys.next_plan`, ".plan"), perMinute, perDay);
  return sql`iif(api_keys.status = 'revoked', 'is revoked, which is permanent', coalesce(${now}, ${then}))`;
}

export const ERASED = sql`iif(erased_at is null, null, 'is erased, which is permanent')`;

/** Of a key that gets the customer with this id, or none. */
export function customerRefusal(id: SQL): SQL {
  return sql`iif(${id} is null or exists (select 1 from customers where id = ${id} and erased_at is null), null, 'cannot have a customer that is merged or erased')`;
}

/** Of a key with this plan and these limits of its own. */
export function limitsRefusal(plan: unknown, perMinute: unknown, perDay: unknown): SQL {
  return sql`(
    select 'needs limits of its own, as plan ' || upper(substr(p.id, 1, 1)) || substr(p.id, 2) || ' has none' from plans p
    where p.id = ${plan} and (coalesce(${perMinute}, p.requests_per_minute) is null or coalesce(${perDay}, p.requests_per_day) is null))`;
}

/** Of a row of `plans`. */
export function planRefusal(becomes: SQL): SQL {
  const isTaken = (member: string) => sql`json_type(${becomes}, ${`$.${member}`}) = 'null'`;
  // Triggers count the keys that have the plan now, and not those that get it later.
  const isAwaited = (limit: SQL) => sql`exists (
    select 1 from api_keys where next_plan_from is not null and next_plan = plans.id and status <> 'revoked' and ${limit} is null)`;
  return sql`iif(
    (${isTaken("requestsPerMinute")} and (plans.keys_without_minute_limit > 0 or ${isAwaited(sql`api_keys.requests_per_minute`)}))
    or (${isTaken("requestsPerDay")} and (plans.keys_without_day_limit > 0 or ${isAwaited(sql`api_keys.requests_per_day`)})), 'has a key without a limit of its own, which relies on the plan', null)`;
}

/** The entries of the undo of a load, a shipment or several keys have this text in common. */
export function undoOf(batch: string): string {
  return `undo ${batch}`;
}

/**
 * Of a load or a shipment with this id, which belongs to one file and one actor, and is done within a day. Whoever
 * undoes the first part ends the rest.
 */
export function batchRefusal(
  call: AuditCall,
  batch: string | undefined,
  { actor, at }: Author,
  file: string | null = null,
): SQL {
  if (batch === undefined) return sql`null`;
  const has = (isSo: SQL) => sql`exists (select 1 from audit_log where ${isSo})`;
  const isOthers = sql`call <> ${call} or actor <> ${actor} or after ->> 'file' is not ${file}`;
  return sql`case
    when ${has(sql`batch = ${undoOf(batch)}`)} then 'was undone meanwhile, so the rest needs another id'
    when ${has(sql`batch = ${batch} and (${isOthers})`)} then 'has an id that another file or another operator has: take another one'
    when ${has(sql`batch = ${batch} and at < ${at - DAY_SECONDS}`)} then 'has an id of more than a day ago: take another one' end`;
}

/** Of the undo of the row `entry` of the audit log, at this time. Null: it can be undone. */
export function undoRefusal(nowSeconds: number): SQL {
  // An empty text is no reason, and null is no row.
  const of = (table: SQL, refusal: SQL) =>
    sql`(select iif(version = entry.id, coalesce(${refusal}, ''), ${CHANGED_SINCE}) from ${table} = entry.object)`;
  const ofKey = (refusal: SQL) => of(sql`api_keys where api_keys.id`, refusal);
  const isLive = sql`lifted_at is null and ends_at > ${nowSeconds}`;
  const set = sql`iif(exists (select 1 from bans where bans.id = entry.after ->> 'ban' and ${isLive}), null, 'is not banned any more')`;
  const lifted = sql`case when exists (select 1 from bans where key_id = entry.object and ${isLive}) then 'is banned again'
    when unixepoch(entry.before ->> 'endsAt') > ${nowSeconds} then null else 'would not be banned any more' end`;
  const loaded = sql`exists (
    select 1 from loads, json_each(loads.orders) kept left join orders o on o.id = kept.value ->> 0
      left join removed_orders removed on removed.id = kept.value ->> 0
    where loads.id = entry.id and coalesce(o.version, removed.version) = entry.id)`;
  // An entry before version 2.3 has owners. Only the case of A to Z is disregarded here: another name is a 409.
  const isOfOwner = sql`coalesce(json_type(entry.before, '$.ownerName'), json_type(entry.before, '$.ownerEmail')) is not null`;
  const key = sql`iif(${isOfOwner}, 'has a customer now, and no owner', coalesce(${keyRefusal(sql`entry.before`)}, ${customerRefusal(sql`entry.before ->> 'customer'`)}))`;
  const isTaken = sql`exists (select 1 from customers other where other.id <> entry.object and other.name = entry.before ->> 'name')`;
  const customer = sql`coalesce(${ERASED}, iif(${isTaken}, 'cannot have the name of another customer', null))`;
  return sql`nullif(coalesce(case
    when entry.call in ('keys.update', 'keys.limit_temporarily', 'keys.end_temporary_limits') then ${ofKey(key)}
    when entry.call = 'bans.set' then ${ofKey(set)}
    when entry.call = 'bans.lift' then ${ofKey(lifted)}
    when entry.call = 'customers.update' then ${of(sql`customers where customers.id`, customer)}
    when entry.call = 'plans.update' then ${of(sql`plans where plans.id`, planRefusal(sql`entry.before`))}
    when entry.call in ('orders.update', 'orders.ship') then ${of(sql`orders where orders.id`, sql`null`)}
    when entry.call in ('orders.load', 'audit.undo') then iif(${loaded}, '', ${CHANGED_SINCE})
    else 'is of a kind that cannot be undone' end, 'is gone'), '')`;
}
