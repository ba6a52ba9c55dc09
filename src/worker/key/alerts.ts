/** Alerts of keys and customers. They are stored only if a webhook is configured; the code of the operator sends them (ADR-28). */

import { type SQL, sql } from "drizzle-orm";
import type { Ban, ReachedThreshold } from "hono-durable-limiter";
import { CUSTOMER_JSON } from "../db/customers-sql.ts";
import { type Conditional, rfc3339Sql } from "../db/database.ts";
import type { STORED_ALERT_TYPES } from "../db/values.ts";
import { settingsOf, type Vars } from "../platform/settings.ts";
import { formatNumber, formatTime } from "../text/format.ts";
import { DAY_SECONDS, dayName, rfc3339, toUnixSeconds } from "../text/time.ts";
import { isCustomerId } from "./key.ts";

/** Statements for the batch of the change. Empty without a webhook. */
export function alertStatements(vars: Vars, keyOrCustomer: string, alert: NewAlert): Conditional[] {
  return settingsOf(vars).webhook === undefined ? [] : [insertAlert(keyOrCustomer, alert)];
}

export function banStarted({ id, strikes, startedAtMs, endsAtMs }: Ban): NewAlert {
  const endsAt = rfc3339(endsAtMs / 1000);
  return {
    id,
    type: "ban.started",
    at: toUnixSeconds(startedAtMs),
    says: `is banned until ${formatTime(endsAt)}: it went on in ${strikes} different seconds after a 429.`,
    data: { ban: id, strikes, endsAt },
  };
}

/** An alert for each day, share and limit: after the limit was raised, the same share is news. */
export function usageReached(
  keyOrCustomer: string,
  { percent, window: { startMs, used, limit }, reachedAtMs }: ReachedThreshold,
): NewAlert {
  const day = dayName(startMs / 1000);
  return {
    id: `${keyOrCustomer}:${day}:${percent}:${limit}`,
    type: isCustomerId(keyOrCustomer) ? "customer.usage" : "key.usage",
    at: toUnixSeconds(reachedAtMs),
    says: `has used ${percent} % of its requests of ${day} (UTC): ${formatNumber(used)} of ${formatNumber(limit)}.`,
    data: { day, percent, used, limit },
  };
}

/** The most alerts of one statement. The next hour stores the others. */
const MAX_EXPIRING_KEYS = 1_000;
const EXPIRING_DAYS = 7;

export type NewAlert = {
  /** An event has the same id each time, because an event can be found twice. */
  readonly id: string;
  readonly type: (typeof STORED_ALERT_TYPES)[number];
  /** Unix seconds. */
  readonly at: number;
  /** The sentence after the name of the key or customer. */
  readonly says: string;
  /** Further members beside the key's id and name, and the customer. */
  readonly data: Readonly<Record<string, string | number | null>>;
};

/** Stores an alert of a key or a customer once. */
function insertAlert(keyOrCustomer: string, alert: NewAlert): Conditional {
  const { id, type, at, says, data } = alert;
  const values = { id: sql`${id}`, says: sql`${says}`, data: sql`${JSON.stringify(data)}` };
  const tail = sql`on conflict (id) do nothing`;
  if (!isCustomerId(keyOrCustomer))
    return { head: insertOf(type, at, values), where: sql`k.id = ${keyOrCustomer}`, tail };
  const head = sql`
    insert into alerts (id, type, at, text, data, next_attempt_at)
    select ${values.id}, ${type}, ${at}, 'Customer ' || c.name || ' ' || ${values.says},
      json_set(${values.data}, '$.customer', json(${CUSTOMER_JSON})), ${at}
    from customers c`;
  return { head, where: sql`c.id = ${keyOrCustomer}`, tail };
}

/** Stores an alert for each active key that expires within 7 days, once for each expiry. */
export function insertExpiryAlerts(nowSeconds: number): SQL {
  const expiry = rfc3339Sql(sql`k.expires_at`);
  const id = sql`k.id || ':expires:' || k.expires_at`;
  const says = sql`'expires on ' || strftime('%Y-%m-%d at %H:%M', k.expires_at, 'unixepoch') || ' UTC.'`;
  const values = { id, says, data: sql`json_object('expiresAt', ${expiry})` };
  return sql`
    ${insertOf("key.expiring", nowSeconds, values)}
    where k.status = 'active' and k.expires_at > ${nowSeconds} and k.expires_at <= ${nowSeconds + EXPIRING_DAYS * DAY_SECONDS}
      and not exists (select 1 from alerts where id = ${id})
    limit ${MAX_EXPIRING_KEYS}`;
}

function insertOf(
  type: NewAlert["type"],
  at: number,
  { id, says, data }: Readonly<Record<"id" | "says" | "data", SQL>>,
): SQL {
  return sql`
    insert into alerts (id, type, key_id, at, text, data, next_attempt_at)
    select ${id}, ${type}, k.id, ${at}, 'Key ' || k.name || coalesce(' (' || c.name || ')', '') || ' ' || ${says},
      json_set(${data}, '$.keyId', k.id, '$.keyName', k.name, '$.customer', json(${CUSTOMER_JSON})), ${at}
    from api_keys k left join customers c on c.id = k.customer_id`;
}
