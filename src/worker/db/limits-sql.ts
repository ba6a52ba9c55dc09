/** SQL of the limits in force: the one place that says which of a key's limits counts. */
import { type SQL, sql } from "drizzle-orm";

export type LimitsSql = { readonly perMinute: SQL; readonly perDay: SQL };

/** The limits of the key `k` with its plan `p`, without the temporary limits. */
export const PERMANENT_LIMITS: LimitsSql = {
  perMinute: sql`coalesce(k.requests_per_minute, p.requests_per_minute, 0)`,
  perDay: sql`coalesce(k.requests_per_day, p.requests_per_day, 0)`,
};

/**
 * The limits of the key `k` with its plan `p`: the temporary limit until its end, else the key's own, else the
 * plan's. 0 only for a revoked key whose plan has lost its limit.
 */
export function limitsAt(nowSeconds: number): LimitsSql {
  const limit = (column: string, permanent: SQL) =>
    sql`coalesce(iif(${isTemporarilyLimited(nowSeconds)}, ${sql.raw(`k.temporary_${column}`)}, null), ${permanent})`;
  return {
    perMinute: limit("requests_per_minute", PERMANENT_LIMITS.perMinute),
    perDay: limit("requests_per_day", PERMANENT_LIMITS.perDay),
  };
}

/** The end of the temporary limits of the key `k`; NULL if there are none, or none any more. */
export function temporaryUntilAt(nowSeconds: number): SQL {
  return sql`iif(${isTemporarilyLimited(nowSeconds)}, k.temporary_until, null)`;
}

/** With the whole seconds of a clock, this is false from the millisecond on at which the limits end. */
function isTemporarilyLimited(nowSeconds: number): SQL {
  return sql`k.temporary_until > ${nowSeconds}`;
}
