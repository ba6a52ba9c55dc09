/** D1: the record behind the hash of a key. */
import { and, eq, isNull, sql } from "drizzle-orm";
import type { KeyRecord } from "../auth/key-record.ts";
import { toBan } from "./ban-repository.ts";
import type { Database } from "./database.ts";
import { apiKeys, bans, keyLimits, keySecrets } from "./schema.ts";

/** One query. Undefined for an unknown hash. A revoked, disabled or expired key is returned as such. */
export async function findKeyRecord(db: Database, hash: string): Promise<KeyRecord | undefined> {
  const row = await db
    .select({
      key: apiKeys,
      limits: { perMinute: keyLimits.perMinute, perDay: keyLimits.perDay },
      secretExpiresAt: sql<number | null>`${keySecrets.expiresAt}`.as("secret_expires_at"),
      operatorBan: bans,
    })
    .from(keySecrets)
    .innerJoin(apiKeys, eq(apiKeys.id, keySecrets.keyId))
    .innerJoin(keyLimits, eq(keyLimits.keyId, apiKeys.id))
    .leftJoin(bans, eq(bans.id, apiKeys.operatorBanId))
    .where(eq(keySecrets.hash, hash))
    .get();
  if (!row) return undefined;
  const { id, version, status, expiresAt, liftedBanId, forgivenBanId, location, firstUsedAt } = row.key;
  return {
    id,
    version,
    status,
    limits: row.limits,
    expiresAt: earlier(expiresAt, row.secretExpiresAt),
    operatorBan: row.operatorBan?.liftedAt === null ? toBan(row.operatorBan) : null,
    liftedBanId,
    forgivenBanId,
    location,
    isUsed: firstUsedAt !== null,
  };
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
