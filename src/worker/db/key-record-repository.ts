/** D1: the record behind the hash of a key. */
import { eq, sql } from "drizzle-orm";
import type { KeyRecord } from "../auth/key-record.ts";
import type { Database } from "./database.ts";
import { apiKeys, banOverrides, keySecrets, plans } from "./schema.ts";

/** One query. Undefined for a hash nobody holds; a revoked, disabled or expired key is returned as such. */
export async function findKeyRecord(db: Database, hash: string): Promise<KeyRecord | undefined> {
  const row = await db
    .select({
      id: apiKeys.id,
      version: apiKeys.version,
      status: apiKeys.status,
      perMinute: sql<number>`coalesce(${apiKeys.requestsPerMinute}, ${plans.requestsPerMinute})`.as(
        "per_minute",
      ),
      perDay: sql<number>`coalesce(${apiKeys.requestsPerDay}, ${plans.requestsPerDay})`.as("per_day"),
      keyExpiresAt: sql<number | null>`${apiKeys.expiresAt}`.as("key_expires_at"),
      banOverride: banOverrides.override,
      secretExpiresAt: sql<number | null>`${keySecrets.expiresAt}`.as("secret_expires_at"),
    })
    .from(keySecrets)
    .innerJoin(apiKeys, eq(apiKeys.id, keySecrets.keyId))
    .innerJoin(plans, eq(plans.id, apiKeys.plan))
    .leftJoin(banOverrides, eq(banOverrides.keyId, apiKeys.id))
    .where(eq(keySecrets.hash, hash))
    .get();
  if (!row) return undefined;
  return {
    id: row.id,
    version: row.version,
    status: row.status,
    limits: { perMinute: row.perMinute, perDay: row.perDay },
    expiresAt: earlier(row.keyExpiresAt, row.secretExpiresAt),
    banOverride: row.banOverride,
  };
}

function earlier(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : Math.min(a, b);
}
