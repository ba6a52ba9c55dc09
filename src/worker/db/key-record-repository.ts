/** D1: key records, by the hash of a secret or by id. */
import { and, desc, eq, gte, isNotNull, isNull, sql } from "drizzle-orm";
import type { KeyRecord } from "../auth/key-record.ts";
import { toBan } from "./ban-repository.ts";
import type { Database } from "./database.ts";
import { apiKeys, bans, dailyUsage, keyLimits, keySecrets } from "./schema.ts";

/** For the admin API, which shows a key with its name. */
export type NamedKeyRecord = KeyRecord & { readonly name: string };

const columns = {
  key: apiKeys,
  limits: { perMinute: keyLimits.perMinute, perDay: keyLimits.perDay },
  operatorBan: bans,
};

type Row = {
  key: typeof apiKeys.$inferSelect;
  limits: KeyRecord["limits"];
  operatorBan: typeof bans.$inferSelect | null;
};

function toRecord({ key, limits, operatorBan }: Row): NamedKeyRecord {
  const { id, name, version, status, expiresAt, location, liftedBanId, forgivenBanId } = key;
  return {
    id,
    name,
    version,
    status,
    limits,
    expiresAt,
    operatorBan: operatorBan?.liftedAt === null ? toBan(operatorBan) : null,
    liftedBanId,
    forgivenBanId,
    location,
    isUsed: key.firstUsedAt !== null,
  };
}

/** One query. Undefined for an unknown hash. A revoked, disabled or expired key is returned as such. */
export async function findKeyRecordByHash(db: Database, hash: string): Promise<KeyRecord | undefined> {
  const row = await db
    .select({
      ...columns,
      secretExpiresAt: sql<number | null>`${keySecrets.expiresAt}`.as("secret_expires_at"),
    })
    .from(keySecrets)
    .innerJoin(apiKeys, eq(apiKeys.id, keySecrets.keyId))
    .innerJoin(keyLimits, eq(keyLimits.keyId, apiKeys.id))
    .leftJoin(bans, eq(bans.id, apiKeys.operatorBanId))
    .where(eq(keySecrets.hash, hash))
    .get();
  if (!row) return undefined;
  const record = toRecord(row);
  return { ...record, expiresAt: earlier(record.expiresAt, row.secretExpiresAt) };
}

export async function findKeyRecordById(db: Database, id: string): Promise<NamedKeyRecord | undefined> {
  const row = await db
    .select(columns)
    .from(apiKeys)
    .innerJoin(keyLimits, eq(keyLimits.keyId, apiKeys.id))
    .leftJoin(bans, eq(bans.id, apiKeys.operatorBanId))
    .where(eq(apiKeys.id, id))
    .get();
  return row && toRecord(row);
}

/**
 * Keys whose limiters may have usage or bans that D1 does not have: the most used since `day` first, then by first use,
 * newest first. Keys that were never used have no limiter and are left out (ADR-17).
 */
export async function listUsedKeys(db: Database, day: string, limit: number): Promise<NamedKeyRecord[]> {
  const mostUsed = db
    .select({
      keyId: dailyUsage.keyId,
      maxAdmitted: sql<number>`max(${dailyUsage.admitted})`.as("max_admitted"),
    })
    .from(dailyUsage)
    .where(gte(dailyUsage.day, day))
    .groupBy(dailyUsage.keyId)
    .as("most_used");
  // The limit comes before the joins, which would otherwise read every key.
  const candidates = db
    .select({ id: apiKeys.id, maxAdmitted: mostUsed.maxAdmitted })
    .from(apiKeys)
    .leftJoin(mostUsed, eq(mostUsed.keyId, apiKeys.id))
    .where(isNotNull(apiKeys.firstUsedAt))
    .orderBy(sql`${mostUsed.maxAdmitted} desc nulls last`, desc(apiKeys.firstUsedAt))
    .limit(limit)
    .as("candidates");
  const rows = await db
    .select(columns)
    .from(candidates)
    .innerJoin(apiKeys, eq(apiKeys.id, candidates.id))
    .innerJoin(keyLimits, eq(keyLimits.keyId, apiKeys.id))
    .leftJoin(bans, eq(bans.id, apiKeys.operatorBanId))
    .orderBy(sql`${candidates.maxAdmitted} desc nulls last`, desc(apiKeys.firstUsedAt));
  return rows.map(toRecord);
}

/**
 * Marks a key as used, before its limiter is first called. Returns the key's version at that moment, undefined if it was
 * marked already. Every later change is sent to the limiter. An earlier change may be newer than the caller's record.
 */
export async function markAsUsed(
  db: Database,
  keyId: string,
  nowSeconds: number,
): Promise<number | undefined> {
  const row = await db
    .update(apiKeys)
    .set({ firstUsedAt: nowSeconds })
    .where(and(eq(apiKeys.id, keyId), isNull(apiKeys.firstUsedAt)))
    .returning({ version: apiKeys.version })
    .get();
  return row?.version;
}

function earlier(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : Math.min(a, b);
}
