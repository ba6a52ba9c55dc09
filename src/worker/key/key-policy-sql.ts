/** D1: loads the policy of a key's limiter, and stores the limiter's reports. */
import { type SQL, sql } from "drizzle-orm";
import type { Ban, HourUsage } from "hono-durable-limiter";
import { type Conditional, type Database, render, transact } from "../db/database.ts";
import type { KEY_STATUSES } from "../db/values.ts";
import { limitsAt, PERMANENT_LIMITS, temporaryUntilAt } from "./limits-sql.ts";
import { dayMsOf, upsertDay } from "./usage-day.ts";

export type KeyPolicyRow = {
  readonly plan: string;
  readonly firstUsedAt: number | null;
  readonly status: (typeof KEY_STATUSES)[number];
  readonly perMinute: number;
  readonly perDay: number;
  readonly permanentPerMinute: number;
  readonly permanentPerDay: number;
  /** When the permanent limits come back. Null: no temporary limits are in force. */
  readonly temporaryUntil: number | null;
  readonly bannedUntil: number | null;
  readonly banReason: string | null;
  readonly pardonedBanId: string | null;
  /** JSON: each secret's hash and expiry, or the key's expiry if that is earlier. 0: the secret has ended. */
  readonly secrets: string;
};

/**
 * Reads the policy at a time of the object's clock. D1 runs queries one after the other: either the read sees
 * a change, or the change sees that the key is used and the limiter is told (ADR-4).
 */
export async function loadKeyPolicy(
  db: Database,
  id: string,
  nowSeconds: number,
): Promise<KeyPolicyRow | undefined> {
  const { perMinute, perDay } = limitsAt(nowSeconds);
  // Operators end secrets by D1's clock, so D1's clock says whether a secret has ended. The limiter judges
  // later ends.
  const select = sql`
    select k.plan, k.status, k.banned_until as bannedUntil, k.ban_reason as banReason, k.pardoned_ban_id as pardonedBanId,
      k.first_used_at as firstUsedAt,
      ${perMinute} as perMinute, ${perDay} as perDay, ${temporaryUntilAt(nowSeconds)} as temporaryUntil,
      ${PERMANENT_LIMITS.perMinute} as permanentPerMinute, ${PERMANENT_LIMITS.perDay} as permanentPerDay,
      (select json_group_array(json_array(hash, iif(expires_at <= unixepoch(), 0,
          min(coalesce(expires_at, k.expires_at), coalesce(k.expires_at, expires_at)))))
        from key_secrets where key_id = k.id) as secrets
    from api_keys k join plans p on p.id = k.plan where k.id = ${id}`;
  // D1 repeats a query that only reads, so this read comes first. A change after the read may see no first
  // use, so the batch marks the key as used and reads again.
  const read = await db.get<KeyPolicyRow | undefined>(select);
  if (read?.firstUsedAt !== null) return read;
  const [, [row]] = await transact<[never, KeyPolicyRow]>(db, [
    sql`update api_keys set first_used_at = ${nowSeconds} where id = ${id} and first_used_at is null`,
    select,
  ]);
  return row;
}

/**
 * Figures are absolute and only grow, and a ban has one row. So a report that D1 gets twice, or late, changes
 * nothing. `alerts` are further statements of the batch.
 */
export async function writeReport(
  db: Database,
  keyId: string,
  hours: readonly HourUsage[],
  bans: readonly Ban[],
  alerts: readonly Conditional[],
): Promise<void> {
  const days = Map.groupBy(hours, ({ startMs }) => dayMsOf(startMs));
  const statements = [
    ...Array.from(days, ([dayMs, hoursOfDay]) => upsertDay(keyId, dayMs, hoursOfDay)),
    ...bans.map((ban) => insertStrikeBan(keyId, ban)),
    ...alerts.map((alert) => render(alert, sql`true`)),
  ];
  if (statements.length > 0) await transact(db, statements);
}

function insertStrikeBan(keyId: string, { id, strikes, startedAtMs, endsAtMs }: Ban): SQL {
  return sql`
    insert into bans (id, key_id, cause, reason, strikes, started_at, ends_at)
    values (${id}, ${keyId}, 'strikes', null, ${strikes}, ${Math.floor(startedAtMs / 1000)}, ${endsAtMs / 1000})
    on conflict (id) do nothing`;
}
