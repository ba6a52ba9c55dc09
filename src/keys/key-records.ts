/** D1: the record behind the hash of a key. */
import { eq, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { apiKeys, banDecrees, keySecrets, plans } from "../db/schema.ts";
import type { KeyRecord } from "./key-record.ts";

/** SHA-256, lower-case hex. A key has 190 random bits, so a slow or salted hash would add nothing (D3). */
export async function hashKey(key: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
  return new Uint8Array(digest).toHex();
}

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
      decree: banDecrees.decree,
      secretExpiresAt: sql<number | null>`${keySecrets.expiresAt}`.as("secret_expires_at"),
    })
    .from(keySecrets)
    .innerJoin(apiKeys, eq(apiKeys.id, keySecrets.keyId))
    .innerJoin(plans, eq(plans.id, apiKeys.plan))
    .leftJoin(banDecrees, eq(banDecrees.keyId, apiKeys.id))
    .where(eq(keySecrets.hash, hash))
    .get();
  if (!row) return undefined;
  return {
    id: row.id,
    version: row.version,
    status: row.status,
    limits: { perMinute: row.perMinute, perDay: row.perDay },
    expiresAt: earlier(row.keyExpiresAt, row.secretExpiresAt),
    decree: row.decree,
  };
}

function earlier(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : Math.min(a, b);
}
