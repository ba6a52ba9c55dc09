/** D1: keys as the admin API shows and changes them. Changes are statements, so that a caller can batch its audit row with them. */
import { and, eq, type SQL, sql } from "drizzle-orm";
import { type Database, hasVersion, rfc3339Sql, type Statement } from "../../db/database.ts";
import { limitsAt, temporaryUntilAt } from "../../db/limits-sql.ts";
import { apiKeys } from "../../db/schema.ts";
import { DAY_SECONDS } from "../../time.ts";
import { selectMembers } from "../audit/sql.ts";
import type { KeyView } from "./schema.ts";

/** 64 bits of the hash name a secret among all others. The whole hash, by which a secret is looked up, is not shown (ADR-3). */
export const SECRET_ID_CHARS = 16;

type Nested = "limits" | "temporaryLimits" | "secrets";
/** A `KeyView` whose nested members are JSON text. */
export type KeyRow = Omit<KeyView, Nested> & Record<Nested, string>;

/** Those of the keys that exist, in the order of their ids here. */
export async function findKeys(db: Database, ids: readonly string[], nowSeconds: number): Promise<KeyView[]> {
  if (ids.length === 0) return [];
  const listed = sql`json_each(${JSON.stringify(ids)}) ids cross join api_keys k on k.id = ids.value`;
  const rows = await db.all<KeyRow>(selectKeysFrom(listed, nowSeconds));
  // Sorted here, as SQLite would count a sorter's rows as read.
  const position = new Map(ids.map((id, index) => [id, index]));
  return rows.map(toKeyView).sort((a, b) => (position.get(a.id) ?? 0) - (position.get(b.id) ?? 0));
}

export async function findKey(db: Database, id: string, nowSeconds: number): Promise<KeyView | undefined> {
  const row = await db.get<KeyRow | undefined>(selectKey(id, nowSeconds));
  return row && toKeyView(row);
}

/** The key's row, for `toKeyView`: as the last statement of a batch, the key as the batch leaves it. */
export function selectKey(id: string, nowSeconds: number): SQL {
  return sql`${selectKeysFrom(sql`api_keys k`, nowSeconds)} where k.id = ${id}`;
}

function temporaryLimitsUntil(end: SQL): SQL {
  return sql`iif(${end} is null, 'null', json_object('requestsPerMinute', temporary_requests_per_minute,
    'requestsPerDay', temporary_requests_per_day, 'until', ${rfc3339Sql(end)}))`;
}

function selectKeysFrom(keys: SQL, nowSeconds: number): SQL {
  const { perMinute, perDay } = limitsAt(nowSeconds);
  return sql`
    select k.id, k.name, k.owner_name as ownerName, k.owner_email as ownerEmail, k.note, k.plan, ${statusAt(nowSeconds)} as status,
      ${rfc3339Sql(sql`(select max(ends_at) from bans where ${isOfKeyAndLive(nowSeconds)})`)} as bannedUntil,
      json_object('requestsPerMinute', ${perMinute}, 'requestsPerDay', ${perDay}) as limits,
      k.requests_per_minute as requestsPerMinute, k.requests_per_day as requestsPerDay,
      ${temporaryLimitsUntil(temporaryUntilAt(nowSeconds))} as temporaryLimits,
      ${rfc3339Sql(sql`k.expires_at`)} as expiresAt, ${rfc3339Sql(sql`k.created_at`)} as createdAt, k.location,
      ${rfc3339Sql(sql`k.first_used_at`)} as firstUsedAt,
      ${admittedSince(nowSeconds - (nowSeconds % DAY_SECONDS))} as admittedToday,
      date((select max(hour) from usage where key_id = k.id), 'unixepoch') as lastUsedDay, k.version,
      (select json_group_array(json_object('id', substr(hash, 1, ${SECRET_ID_CHARS}), 'hint', hint,
          'createdAt', ${rfc3339Sql(sql`created_at`)}, 'expiresAt', ${rfc3339Sql(sql`expires_at`)}) order by created_at, hint)
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
  return {
    ...row,
    // `selectKeysFrom` made these texts.
    limits: JSON.parse(row.limits),
    temporaryLimits: JSON.parse(row.temporaryLimits),
    secrets: JSON.parse(row.secrets),
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
  temporaryLimits: sql`json(${temporaryLimitsUntil(sql`temporary_until`)})`,
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
