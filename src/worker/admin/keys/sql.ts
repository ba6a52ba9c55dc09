/** D1: keys as the admin API shows and changes them. Changes are statements, so that a caller can batch its audit row with them. */
import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Location } from "../../auth/key.ts";
import { type Database, hasVersion, rfc3339Sql, type Statement } from "../../db/database.ts";
import { limitsAt, temporaryUntilAt } from "../../db/limits-sql.ts";
import { apiKeys } from "../../db/schema.ts";
import { DAY_SECONDS, dayName, rfc3339, rfc3339OrNull } from "../../time.ts";
import { selectMembers } from "../audit/sql.ts";
import type { KeyView } from "./schema.ts";

/** 64 bits of the hash name a secret among all others. The whole hash, by which a secret is looked up, is not shown (ADR-3). */
export const SECRET_ID_CHARS = 16;

export type KeyRow = {
  id: string;
  name: string;
  owner_name: string | null;
  owner_email: string | null;
  note: string | null;
  plan: string;
  status: KeyView["status"];
  requests_per_minute: number | null;
  requests_per_day: number | null;
  per_minute: number;
  per_day: number;
  temporary_requests_per_minute: number | null;
  temporary_requests_per_day: number | null;
  temporary_until: number | null;
  expires_at: number | null;
  created_at: number;
  location: Location | null;
  first_used_at: number | null;
  last_used_hour: number | null;
  banned_until: number | null;
  admitted_today: number;
  version: number;
  secrets: string;
};

/** Those of the keys that exist, in the order of their ids here. */
export async function findKeys(db: Database, ids: readonly string[], nowSeconds: number): Promise<KeyView[]> {
  if (ids.length === 0) return [];
  const listed = sql`json_each(${JSON.stringify(ids)}) ids cross join api_keys k on k.id = ids.value`;
  const rows = await db.all<KeyRow>(selectKeysFrom(listed, nowSeconds));
  // Sorted here, as SQLite would count a sorter's rows as read.
  const position = new Map(ids.map((id, index) => [id, index]));
  return rows.map(toKeyView).sort((a, b) => (position.get(a.id) ?? 0) - (position.get(b.id) ?? 0));
}

/** The names of the keys among these ids, which may be of plans and orders, too. */
export async function findKeyNames(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const listed = sql`json_each(${JSON.stringify([...new Set(ids)])}) ids cross join api_keys k on k.id = ids.value`;
  const rows = await db.all<{ id: string; name: string }>(sql`select k.id, k.name from ${listed}`);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

export async function findKey(db: Database, id: string, nowSeconds: number): Promise<KeyView | undefined> {
  const row = await db.get<KeyRow | undefined>(selectKey(id, nowSeconds));
  return row && toKeyView(row);
}

/** The key's row, for `toKeyView`: as the last statement of a batch, the key as the batch leaves it. */
export function selectKey(id: string, nowSeconds: number): SQL {
  return sql`${selectKeysFrom(sql`api_keys k`, nowSeconds)} where k.id = ${id}`;
}

function selectKeysFrom(keys: SQL, nowSeconds: number): SQL {
  const { perMinute, perDay } = limitsAt(nowSeconds);
  return sql`
    select k.id, k.name, k.owner_name, k.owner_email, k.note, k.plan, ${statusAt(nowSeconds)} as status,
      k.requests_per_minute, k.requests_per_day,
      ${perMinute} as per_minute, ${perDay} as per_day, k.temporary_requests_per_minute, k.temporary_requests_per_day,
      ${temporaryUntilAt(nowSeconds)} as temporary_until,
      k.expires_at, k.created_at, k.location, k.first_used_at, k.version,
      (select max(hour) from usage where key_id = k.id) as last_used_hour,
      ${admittedSince(nowSeconds - (nowSeconds % DAY_SECONDS))} as admitted_today,
      (select max(ends_at) from bans where ${isOfKeyAndLive(nowSeconds)}) as banned_until,
      (select json_group_array(json_array(substr(hash, 1, ${SECRET_ID_CHARS}), hint, created_at, expires_at) order by created_at, hint)
        from key_secrets where key_id = k.id) as secrets
    from ${keys} cross join plans p on p.id = k.plan`;
}

export function statusAt(nowSeconds: number): SQL {
  return sql`case
    when k.status <> 'active' then k.status
    when k.expires_at <= ${nowSeconds} then 'expired'
    when exists (select 1 from bans where ${isOfKeyAndLive(nowSeconds)}) then 'banned'
    else 'active' end`;
}

function isOfKeyAndLive(nowSeconds: number): SQL {
  return sql`key_id = k.id and ends_at > ${nowSeconds} and lifted_at is null`;
}

/** Requests of the key `k` that were admitted since the hour. */
export function admittedSince(hour: number): SQL {
  return sql`(select coalesce(sum(admitted), 0) from usage where key_id = k.id and hour >= ${hour})`;
}

export function toKeyView(row: KeyRow): KeyView {
  // `selectKeysFrom` made this text.
  const secrets = JSON.parse(row.secrets) as [
    id: string,
    hint: string,
    createdAt: number,
    expiresAt: number | null,
  ][];
  return {
    id: row.id,
    name: row.name,
    ownerName: row.owner_name,
    ownerEmail: row.owner_email,
    note: row.note,
    plan: row.plan,
    status: row.status,
    bannedUntil: rfc3339OrNull(row.banned_until),
    limits: { requestsPerMinute: row.per_minute, requestsPerDay: row.per_day },
    requestsPerMinute: row.requests_per_minute,
    requestsPerDay: row.requests_per_day,
    temporaryLimits:
      row.temporary_until === null
        ? null
        : {
            requestsPerMinute: row.temporary_requests_per_minute,
            requestsPerDay: row.temporary_requests_per_day,
            until: rfc3339(row.temporary_until),
          },
    expiresAt: rfc3339OrNull(row.expires_at),
    createdAt: rfc3339(row.created_at),
    location: row.location,
    firstUsedAt: rfc3339OrNull(row.first_used_at),
    admittedToday: row.admitted_today,
    lastUsedDay: row.last_used_hour === null ? null : dayName(row.last_used_hour),
    version: row.version,
    secrets: secrets.map(([id, hint, createdAt, expiresAt]) => ({
      id,
      hint,
      createdAt: rfc3339(createdAt),
      expiresAt: rfc3339OrNull(expiresAt),
    })),
  };
}

type NewKey = typeof apiKeys.$inferInsert;
export type IssuedKey = Pick<NewKey, "id" | "createdAt" | "location"> & Omit<KeyChanges, "status">;
export type KeyChanges = Partial<
  Pick<
    NewKey,
    | "name"
    | "ownerName"
    | "ownerEmail"
    | "note"
    | "plan"
    | "requestsPerMinute"
    | "requestsPerDay"
    | "status"
    | "expiresAt"
  >
>;

export type TemporaryLimitChanges = Pick<
  NewKey,
  "temporaryRequestsPerMinute" | "temporaryRequestsPerDay" | "temporaryUntil"
>;

const AUDITED: Readonly<Record<keyof KeyChanges | "temporaryLimits" | "hints", SQL>> = {
  name: sql`name`,
  ownerName: sql`owner_name`,
  ownerEmail: sql`owner_email`,
  note: sql`note`,
  plan: sql`plan`,
  status: sql`status`,
  requestsPerMinute: sql`requests_per_minute`,
  requestsPerDay: sql`requests_per_day`,
  temporaryLimits: sql`json(iif(temporary_until is null, null, json_object('requestsPerMinute', temporary_requests_per_minute,
    'requestsPerDay', temporary_requests_per_day, 'until', ${rfc3339Sql(sql`temporary_until`)})))`,
  expiresAt: rfc3339Sql(sql`expires_at`),
  hints: sql`json((select json_group_array(hint order by created_at, hint) from key_secrets where key_id = api_keys.id))`,
};

/** For the audit log: these members of the key, as the change replaces them. */
export function selectKeyMembers(id: string, names: readonly string[]): SQL {
  return selectMembers(AUDITED, names, sql`api_keys where id = ${id}`);
}

export function insertKey(
  { id, name, ownerName, ownerEmail, note, plan, ...key }: Required<IssuedKey>,
  condition: SQL,
): Statement {
  return sql`
    insert into api_keys (id, name, owner_name, owner_email, note, plan, requests_per_minute, requests_per_day, expires_at,
      location, created_at)
    select ${id}, ${name}, ${ownerName}, ${ownerEmail}, ${note}, ${plan}, ${key.requestsPerMinute}, ${key.requestsPerDay},
      ${key.expiresAt}, ${key.location}, ${key.createdAt} where ${condition}`;
}

export function isUnusedId(id: string): SQL {
  return sql`not exists (select 1 from api_keys where id = ${id})`;
}

/** Whether the key exists at this point of the batch, with the expected version. */
export function keyExists(id: string, expectedVersion: number | undefined): SQL {
  return sql`exists (select 1 from api_keys where id = ${id} and ${hasVersion(expectedVersion)})`;
}

/** Whether the key can be changed at this point of the batch. A revoked key cannot. */
export function isChangeable(id: string, expectedVersion: number | undefined): SQL {
  return sql`
    exists (select 1 from api_keys where id = ${id} and status <> 'revoked' and ${hasVersion(expectedVersion)})`;
}

/** Whether the key can be changed, and has temporary limits in force, at this point of the batch. */
export function isTemporarilyLimited(
  id: string,
  expectedVersion: number | undefined,
  nowSeconds: number,
): SQL {
  return sql`
    (${isChangeable(id, expectedVersion)} and exists (select 1 from api_keys where id = ${id} and temporary_until > ${nowSeconds}))`;
}

/** Without changes, the key has another version, as its secrets change. */
export function updateKeyRow(
  db: Database,
  id: string,
  changes: KeyChanges | TemporaryLimitChanges,
  condition: SQL,
): Statement {
  return db
    .update(apiKeys)
    .set({ ...changes, version: sql`${apiKeys.version} + 1` })
    .where(and(eq(apiKeys.id, id), condition));
}
