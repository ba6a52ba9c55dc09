/** SQL of the limits in force. Only this file says which limit of a key counts. */
import { type SQL, sql } from "drizzle-orm";

export type LimitsSql = { readonly perMinute: SQL; readonly perDay: SQL };

/** The limits of the key `k` with the plan `p`, without temporary limits. */
export const PERMANENT_LIMITS: LimitsSql = {
  perMinute: sql`coalesce(k.requests_per_minute, p.requests_per_minute, 0)`,
  perDay: sql`coalesce(k.requests_per_day, p.requests_per_day, 0)`,
};

/**
 * The limits of the key `k` with the plan `p`: the temporary limit until its end, or the key's own limit, or
 * the plan's limit. 0 only for a revoked key whose plan has lost its limit.
 */
export function limitsSqlAt(nowSeconds: number): LimitsSql {
  const limit = (column: string, permanent: SQL) =>
    sql`coalesce(iif(${isTemporarilyLimited(nowSeconds)}, ${sql.raw(`k.temporary_${column}`)}, null), ${permanent})`;
  return {
    perMinute: limit("requests_per_minute", PERMANENT_LIMITS.perMinute),
    perDay: limit("requests_per_day", PERMANENT_LIMITS.perDay),
  };
}

/** The end of the temporary limits of the key `k`. NULL: no temporary limits are in force. */
export function temporaryUntilAt(nowSeconds: number): SQL {
  return sql`iif(${isTemporarilyLimited(nowSeconds)}, k.temporary_until, null)`;
}

/** `nowSeconds` is rounded down, so this is false from the very millisecond at which the limits end. */
function isTemporarilyLimited(nowSeconds: number): SQL {
  return sql`k.temporary_until > ${nowSeconds}`;
}
