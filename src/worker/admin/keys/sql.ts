/** D1: reads keys in the form that the admin API shows. */
import { getTableColumns, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import { CUSTOMER_JSON } from "../../db/customers-sql.ts";
import { type Database, membersSql, rfc3339Sql } from "../../db/database.ts";
import { apiKeys } from "../../db/schema.ts";
import { SECRET_ID_CHARS } from "../../key/key.ts";
import { isOfKeyAndLive, limitsSqlAt, planAt, statusAt, temporaryUntilAt } from "../../key/key-state-sql.ts";
import { DAY_SECONDS, nowSeconds } from "../../text/time.ts";
import { type Kind, requireTarget, type Target } from "../change.ts";
import { admittedOn } from "../usage/sql.ts";
import { type KeyView, keyView } from "./schema.ts";

type Nested = "customer" | "limits" | "mayCancel" | "temporaryLimits" | "nextPlan" | "secrets";
/** A `KeyView` whose boolean and nested members are JSON text. */
export type KeyRow = Omit<KeyView, Nested> & Record<Nested, string>;

/** Reads the keys with these ids, in the order of the ids. An id that no key has is left out. */
export async function findKeys(db: Database, ids: readonly string[], nowSeconds: number): Promise<KeyView[]> {
  if (ids.length === 0) return [];
  const rows = await db.all<KeyRow>(selectKeysFrom(listed(ids), nowSeconds));
  // Sorted here, as SQLite would count a sorter's rows as read.
  const position = new Map(ids.map((id, index) => [id, index]));
  return rows.map(toKeyView).sort((a, b) => (position.get(a.id) ?? 0) - (position.get(b.id) ?? 0));
}

function listed(ids: readonly string[]): SQL {
  return sql`json_each(${JSON.stringify(ids)}) ids cross join api_keys k on k.id = ids.value`;
}

export type KeyUse = Pick<KeyRow, "id" | "name" | "plan" | "limits" | "admittedToday" | "lastUsedDay">;

/** Reads the use of these keys, and their limits: those with this plan, if one is given. */
export function selectUse(ids: readonly string[], nowSeconds: number, plan: string | null): SQL {
  return sql`
    select k.id, k.name, k.plan, ${limitsJsonAt(nowSeconds)} as limits, ${admittedTodayAt(nowSeconds)} as admittedToday,
      ${LAST_USED_DAY} as lastUsedDay
    from ${listed(ids)} cross join plans p on p.id = coalesce(${plan}, ${planAt(nowSeconds)})`;
}

export async function requireKey(db: Database, id: string): Promise<KeyView> {
  return requireTarget(db, keyTarget(id, nowSeconds()));
}

/** The key, with its status and limits at this time. */
export function keyTarget(id: string, nowSeconds: number): Target<KeyRow, KeyView> {
  return {
    kind: KEYS,
    id,
    select: sql`${selectKeysFrom(sql`api_keys k`, nowSeconds)} where k.id = ${id}`,
    view: toKeyView,
  };
}

/** Of those that have ended, the latest. A program that rotates every hour makes 2,160 before the first is deleted. */
const MAX_SECRETS_SHOWN = 20;
const MAY_CANCEL = sql`iif(may_cancel, 'true', 'false')`;

const NEXT_PLAN = sql`iif(next_plan is null, 'null', json_object('plan', next_plan, 'from', ${rfc3339Sql(sql`next_plan_from`)}))`;

const AUDITED = {
  ...getTableColumns(apiKeys),
  mayCancel: sql`json(${MAY_CANCEL})`,
  temporaryLimits: sql`json(${temporaryLimitsUntil(sql`temporary_until`)})`,
  nextPlan: sql`json(${NEXT_PLAN})`,
  expiresAt: rfc3339Sql(sql`expires_at`),
};

export const KEYS = {
  table: apiKeys,
  noun: "key",
  title: sql`api_keys.name`,
  members: AUDITED,
  stored: {
    expiresAt: sql`unixepoch(made.after ->> 'expiresAt')`,
    nextPlan: sql`made.after ->> '$.nextPlan.plan'`,
  },
} satisfies Kind;

function temporaryLimitsUntil(end: SQL): SQL {
  return sql`iif(${end} is null, 'null', json_object('requestsPerMinute', temporary_requests_per_minute,
    'requestsPerDay', temporary_requests_per_day, 'until', ${rfc3339Sql(end)}))`;
}

/** The newest day of use has the last use of each secret. */
const SECRET_LAST_USED = sql`(select secrets ->> substr(hash, 1, ${SECRET_ID_CHARS}) from usage where key_id = k.id order by day desc limit 1)`;

const LAST_USED_DAY = sql`date((select max(day) from usage where key_id = k.id), 'unixepoch')`;

function admittedTodayAt(nowSeconds: number): SQL {
  return admittedOn(nowSeconds - (nowSeconds % DAY_SECONDS));
}

function limitsJsonAt(nowSeconds: number): SQL {
  const { perMinute, perDay } = limitsSqlAt(nowSeconds);
  return sql`json_object('requestsPerMinute', ${perMinute}, 'requestsPerDay', ${perDay})`;
}

function selectKeysFrom(keys: SQL, nowSeconds: number): SQL {
  const members = membersSql(alias(apiKeys, "k"), keyView, {
    customer: CUSTOMER_JSON,
    status: statusAt(nowSeconds),
    bannedUntil: rfc3339Sql(sql`(select max(ends_at) from bans where ${isOfKeyAndLive(nowSeconds)})`),
    limits: limitsJsonAt(nowSeconds),
    temporaryLimits: temporaryLimitsUntil(temporaryUntilAt(nowSeconds)),
    nextPlan: NEXT_PLAN,
    mayCancel: MAY_CANCEL,
    expiresAt: rfc3339Sql(sql`k.expires_at`),
    createdAt: rfc3339Sql(sql`k.created_at`),
    firstUsedAt: rfc3339Sql(sql`k.first_used_at`),
    admittedToday: admittedTodayAt(nowSeconds),
    lastUsedDay: LAST_USED_DAY,
    secrets: sql`
      (select json_group_array(json_object('id', substr(hash, 1, ${SECRET_ID_CHARS}), 'hint', hint,
          'createdAt', ${rfc3339Sql(sql`created_at`)}, 'expiresAt', ${rfc3339Sql(sql`expires_at`)},
          'lastUsedAt', ${rfc3339Sql(SECRET_LAST_USED)}) order by created_at, hint)
        from (select * from key_secrets where key_id = k.id order by expires_at is null desc, expires_at desc limit ${MAX_SECRETS_SHOWN}))`,
  });
  return sql`
    select ${members}
    from ${keys} cross join plans p on p.id = ${planAt(nowSeconds)} left join customers c on c.id = k.customer_id`;
}

function toKeyView(row: KeyRow): KeyView {
  return {
    ...row,
    // `selectKeysFrom` made these texts.
    customer: JSON.parse(row.customer),
    limits: JSON.parse(row.limits),
    mayCancel: JSON.parse(row.mayCancel),
    temporaryLimits: JSON.parse(row.temporaryLimits),
    nextPlan: JSON.parse(row.nextPlan),
    secrets: JSON.parse(row.secrets),
  };
}
