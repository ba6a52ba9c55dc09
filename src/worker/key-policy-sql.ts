/** D1: what a key's limiter decides by, and what the limiter reports. */
import { type SQL, sql } from "drizzle-orm";
import type { Ban, HourUsage } from "../limiter/index.ts";
import { type Database, type Statement, transact } from "./db/database.ts";
import { limitsAt, PERMANENT_LIMITS, temporaryUntilAt } from "./db/limits-sql.ts";
import type { KEY_STATUSES } from "./db/values.ts";

export type KeyPolicyRow = {
  readonly plan: string;
  readonly firstUsedAt: number | null;
  readonly status: (typeof KEY_STATUSES)[number];
  readonly perMinute: number;
  readonly perDay: number;
  readonly permanentPerMinute: number;
  readonly permanentPerDay: number;
  /** When the permanent limits replace the others; null: no temporary ones are in force. */
  readonly temporaryUntil: number | null;
  readonly bannedUntil: number | null;
  readonly banReason: string | null;
  readonly pardonedBanId: string | null;
  /** JSON: hash and expiry of each secret, 0 if it has ended. The expiry is the key's if that is earlier. */
  readonly secrets: string;
};

/**
 * Reads the policy at this time by the object's clock. D1 runs queries one after the other: either the read
 * sees a change, or the change sees that the key is used, and the limiter is told (ADR-4).
 */
export async function loadKeyPolicy(
  db: Database,
  id: string,
  nowSeconds: number,
): Promise<KeyPolicyRow | undefined> {
  const { perMinute, perDay } = limitsAt(nowSeconds);
  // Operators end secrets by D1's clock, so the same clock says whether a secret has ended. The limiter
  // judges later ends.
  const select = sql`
    select k.plan, k.status, k.banned_until as bannedUntil, k.ban_reason as banReason, k.pardoned_ban_id as pardonedBanId,
      k.first_used_at as firstUsedAt,
      ${perMinute} as perMinute, ${perDay} as perDay, ${temporaryUntilAt(nowSeconds)} as temporaryUntil,
      ${PERMANENT_LIMITS.perMinute} as permanentPerMinute, ${PERMANENT_LIMITS.perDay} as permanentPerDay,
      (select json_group_array(json_array(hash, iif(expires_at <= unixepoch(), 0,
          min(coalesce(expires_at, k.expires_at), coalesce(k.expires_at, expires_at)))))
        from key_secrets where key_id = k.id) as secrets
    from api_keys k join plans p on p.id = k.plan where k.id = ${id}`;
  // D1 repeats a query that only reads. A read before the mark may be too early, so the batch reads again.
  const read = await db.get<KeyPolicyRow | undefined>(select);
  if (read?.firstUsedAt !== null) return read;
  const [, [row]] = await transact<[never, KeyPolicyRow]>(db, [
    sql`update api_keys set first_used_at = ${nowSeconds} where id = ${id} and first_used_at is null`,
    select,
  ]);
  return row;
}

/**
 * Figures are absolute and only grow, and a ban has one row: an earlier report that D1 gets again, or late,
 * changes nothing. `alerts`: statements of its batch.
 */
export async function writeReport(
  db: Database,
  keyId: string,
  hours: readonly HourUsage[],
  bans: readonly Ban[],
  alerts: readonly Statement[],
): Promise<void> {
  const statements = [
    ...hours.map((hour) => upsertHour(keyId, hour)),
    ...bans.map((ban) => insertStrikeBan(keyId, ban)),
    ...alerts,
  ];
  if (statements.length > 0) await transact(db, statements);
}

function upsertHour(keyId: string, hour: HourUsage): SQL {
  const { startMs, admitted, refused, refusedWhileBanned, refusedMinutes } = hour;
  const minutes = refusedMinutes.length === 0 ? null : JSON.stringify(refusedMinutes);
  return sql`
    insert into usage (key_id, hour, admitted, refused, refused_while_banned, refused_minutes)
    values (${keyId}, ${startMs / 1000}, ${admitted}, ${refused}, ${refusedWhileBanned}, ${minutes})
    on conflict (hour, key_id) do update set admitted = max(admitted, excluded.admitted),
      refused = max(refused, excluded.refused),
      refused_while_banned = max(refused_while_banned, excluded.refused_while_banned),
      refused_minutes = iif(excluded.refused + excluded.refused_while_banned < refused + refused_while_banned,
        refused_minutes, excluded.refused_minutes)`;
}

function insertStrikeBan(keyId: string, { id, strikes, startedAtMs, endsAtMs }: Ban): SQL {
  return sql`
    insert into bans (id, key_id, cause, reason, strikes, started_at, ends_at)
    values (${id}, ${keyId}, 'strikes', null, ${strikes}, ${Math.floor(startedAtMs / 1000)}, ${endsAtMs / 1000})
    on conflict (id) do nothing`;
}
