/** D1: keys with what the admin API needs to call their limiters. */
import { desc, eq, gte, isNotNull, sql } from "drizzle-orm";
import type { KeyRecord } from "../auth/key-record.ts";
import { toBan } from "./ban-repository.ts";
import type { Database } from "./database.ts";
import { apiKeys, bans, dailyUsage, keyLimits } from "./schema.ts";

export type LimitedKey = Omit<KeyRecord, "status" | "expiresAt"> & { readonly name: string };

const columns = {
  id: apiKeys.id,
  name: apiKeys.name,
  version: apiKeys.version,
  location: apiKeys.location,
  firstUsedAt: apiKeys.firstUsedAt,
  liftedBanId: apiKeys.liftedBanId,
  forgivenBanId: apiKeys.forgivenBanId,
  perMinute: keyLimits.perMinute,
  perDay: keyLimits.perDay,
  operatorBan: bans,
};

type Row = Omit<LimitedKey, "limits" | "operatorBan" | "isUsed"> & {
  firstUsedAt: number | null;
  perMinute: number;
  perDay: number;
  operatorBan: typeof bans.$inferSelect | null;
};

function toLimitedKey({ firstUsedAt, perMinute, perDay, operatorBan, ...key }: Row): LimitedKey {
  return {
    ...key,
    limits: { perMinute, perDay },
    operatorBan: operatorBan?.liftedAt === null ? toBan(operatorBan) : null,
    isUsed: firstUsedAt !== null,
  };
}

export async function findLimitedKey(db: Database, id: string): Promise<LimitedKey | undefined> {
  const row = await db
    .select(columns)
    .from(apiKeys)
    .innerJoin(keyLimits, eq(keyLimits.keyId, apiKeys.id))
    .leftJoin(bans, eq(bans.id, apiKeys.operatorBanId))
    .where(eq(apiKeys.id, id))
    .get();
  return row && toLimitedKey(row);
}

/**
 * Keys whose limiters may have usage or bans that D1 does not have: the most used since `day` first, then by first use,
 * newest first. Keys that were never used have no limiter and are left out (ADR-17).
 */
export async function listUsedKeys(db: Database, day: string, limit: number): Promise<LimitedKey[]> {
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
  return rows.map(toLimitedKey);
}
