/** D1: keys as their operator sees and changes them. Changes are statements, so that a caller can batch its audit row with them. */
import { and, eq, isNull, ne, or, type SQL, sql } from "drizzle-orm";
import type { KeyStatus } from "../auth/key-record.ts";
import { rfc3339, rfc3339OrNull } from "../time.ts";
import type { Database } from "./database.ts";
import { apiKeys, keySecrets } from "./schema.ts";

export type KeyView = {
  readonly id: string;
  readonly name: string;
  readonly plan: string;
  /** `expired` is an active key past its expiry. */
  readonly status: KeyStatus | "expired";
  /** In force: the key's own, or its plan's. 0 only for a revoked key whose plan has lost its own. */
  readonly limits: { readonly requestsPerMinute: number; readonly requestsPerDay: number };
  /** The key's own; null means its plan's. */
  readonly requestsPerMinute: number | null;
  readonly requestsPerDay: number | null;
  readonly expiresAt: string | null;
  readonly createdAt: string;
  readonly lastUsedDay: string | null;
  readonly version: number;
  readonly secrets: readonly SecretView[];
};

export type SecretView = {
  readonly hint: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
};

export type KeyFilter = {
  readonly plan?: string | undefined;
  readonly status?: KeyView["status"] | undefined;
  /** Part of the name, any case. */
  readonly name?: string | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
};

type KeyRow = {
  id: string;
  name: string;
  plan: string;
  status: KeyView["status"];
  requests_per_minute: number | null;
  requests_per_day: number | null;
  per_minute: number;
  per_day: number;
  expires_at: number | null;
  created_at: number;
  last_used_day: string | null;
  version: number;
  secrets: string;
};

/** In the order in which they were created. */
export async function listKeys(db: Database, filter: KeyFilter, nowSeconds: number): Promise<KeyView[]> {
  const conditions: SQL[] = [];
  if (filter.plan !== undefined) conditions.push(sql`k.plan = ${filter.plan}`);
  if (filter.status !== undefined) conditions.push(sql`${statusAt(nowSeconds)} = ${filter.status}`);
  if (filter.name !== undefined) conditions.push(sql`instr(lower(k.name), lower(${filter.name})) > 0`);
  if (filter.after !== undefined) conditions.push(sql`k.id > ${filter.after}`);
  return selectKeys(db, conditions, filter.limit, nowSeconds);
}

export async function getKey(db: Database, id: string, nowSeconds: number): Promise<KeyView | undefined> {
  const [key] = await selectKeys(db, [sql`k.id = ${id}`], 1, nowSeconds);
  return key;
}

async function selectKeys(
  db: Database,
  conditions: SQL[],
  limit: number,
  nowSeconds: number,
): Promise<KeyView[]> {
  const where = conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
  const rows = await db.all<KeyRow>(sql`
    select k.id, k.name, k.plan, ${statusAt(nowSeconds)} as status,
      k.requests_per_minute, k.requests_per_day,
      coalesce(k.requests_per_minute, p.requests_per_minute, 0) as per_minute,
      coalesce(k.requests_per_day, p.requests_per_day, 0) as per_day,
      k.expires_at, k.created_at, k.version,
      (select max(day) from daily_usage where key_id = k.id) as last_used_day,
      (select json_group_array(json_array(hint, created_at, expires_at) order by created_at, hint)
        from key_secrets where key_id = k.id) as secrets
    from api_keys k join plans p on p.id = k.plan
    where ${where} order by k.id limit ${limit}`);
  return rows.map(toView);
}

function statusAt(nowSeconds: number): SQL {
  return sql`iif(k.status = 'active' and k.expires_at <= ${nowSeconds}, 'expired', k.status)`;
}

function toView(row: KeyRow): KeyView {
  // The statement above made this text.
  const secrets = JSON.parse(row.secrets) as [hint: string, createdAt: number, expiresAt: number | null][];
  return {
    id: row.id,
    name: row.name,
    plan: row.plan,
    status: row.status,
    limits: { requestsPerMinute: row.per_minute, requestsPerDay: row.per_day },
    requestsPerMinute: row.requests_per_minute,
    requestsPerDay: row.requests_per_day,
    expiresAt: rfc3339OrNull(row.expires_at),
    createdAt: rfc3339(row.created_at),
    lastUsedDay: row.last_used_day,
    version: row.version,
    secrets: secrets.map(([hint, createdAt, expiresAt]) => ({
      hint,
      createdAt: rfc3339(createdAt),
      expiresAt: rfc3339OrNull(expiresAt),
    })),
  };
}

export type NewKey = typeof apiKeys.$inferInsert;
export type NewSecret = typeof keySecrets.$inferInsert;
export type KeyChanges = Partial<
  Pick<NewKey, "name" | "plan" | "requestsPerMinute" | "requestsPerDay" | "status" | "expiresAt">
>;

export function insertKey(db: Database, key: NewKey) {
  return db.insert(apiKeys).values(key);
}

export function insertSecret(db: Database, secret: NewSecret) {
  return db.insert(keySecrets).values(secret);
}

/** Whether the key can still be changed when the batch that this is part of runs. */
export function isChangeable(id: string): SQL {
  return sql`exists (select 1 from api_keys where id = ${id} and status <> 'revoked')`;
}

/** Revoked is for good: no change reaches a revoked key, not even one that was decided on before it was revoked. */
export function changeKey(db: Database, id: string, changes: KeyChanges) {
  return db
    .update(apiKeys)
    .set(changes)
    .where(and(eq(apiKeys.id, id), ne(apiKeys.status, "revoked")));
}

/** The key's secrets die at `expiresAt`, those that die earlier anyway excepted. */
export function retireSecrets(db: Database, keyId: string, expiresAt: number) {
  return db
    .update(keySecrets)
    .set({ expiresAt })
    .where(
      and(
        eq(keySecrets.keyId, keyId),
        or(isNull(keySecrets.expiresAt), sql`${keySecrets.expiresAt} > ${expiresAt}`),
      ),
    );
}
