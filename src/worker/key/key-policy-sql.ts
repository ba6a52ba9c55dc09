/** D1: loads the policy of a key's limiter, and stores the limiter's reports. */
import { type SQL, sql } from "drizzle-orm";
import type { Ban, HourUsage } from "hono-durable-limiter";
import { type Conditional, type Database, render, transact } from "../db/database.ts";
import type { KEY_STATUSES } from "../db/values.ts";
import { limitsAt, PERMANENT_LIMITS, temporaryUntilAt } from "./limits-sql.ts";
import { HOUR_SQL } from "./usage-sql.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

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
  const days = Map.groupBy(hours, ({ startMs }) => startMs - (startMs % DAY_MS));
  const statements = [
    ...Array.from(days, ([dayMs, hoursOfDay]) => upsertDay(keyId, dayMs, hoursOfDay)),
    ...bans.map((ban) => insertStrikeBan(keyId, ban)),
    ...alerts.map((alert) => render(alert, sql`true`)),
  ];
  if (statements.length > 0) await transact(db, statements);
}

/**
 * Merges the hours into the day's row. The update is in place and touches no index. A report without a new
 * request is an earlier report, so it does not change the limit either.
 */
function upsertDay(keyId: string, dayMs: number, hours: readonly HourUsage[]): SQL {
  const limitPerDay = hours.at(-1)?.limits.day;
  if (limitPerDay === undefined) throw new Error("the policy has no window day");
  const day = dayMs / 1000;
  const { admitted, refused, banned, minutes } = HOUR_SQL;
  const figuresIn = (json: SQL) => sql`(
    select e.key as hour, ${admitted} as a, ${refused} as r, ${banned} as b, ${minutes} as minutes from json_each(${json}) e)`;
  return sql`
    insert into usage (day, key_id, admitted, refused, refused_while_banned, limit_per_day, hours)
    select ${day}, ${keyId}, sum(a), sum(r), sum(b), ${limitPerDay},
      json_group_array(json(iif(r + b = 0, a, json_array(a, r, b, json(minutes)))) order by hour)
    from (
      select hour, max(coalesce(old.a, 0), coalesce(new.a, 0)) as a, max(coalesce(old.r, 0), coalesce(new.r, 0)) as r,
        max(coalesce(old.b, 0), coalesce(new.b, 0)) as b,
        iif(coalesce(new.r + new.b, 0) < coalesce(old.r + old.b, 0), old.minutes, new.minutes) as minutes
      from ${figuresIn(sql`(select hours from usage where day = ${day} and key_id = ${keyId})`)} old
      full join ${figuresIn(sql`${JSON.stringify(hoursOf(dayMs, hours))}`)} new using (hour))
    where true
    on conflict (day, key_id) do update set admitted = excluded.admitted, refused = excluded.refused,
      refused_while_banned = excluded.refused_while_banned, limit_per_day = excluded.limit_per_day, hours = excluded.hours
    where excluded.admitted + excluded.refused + excluded.refused_while_banned > admitted + refused + refused_while_banned`;
}

/** Returns the value of the column `hours`, from midnight until the last of these hours. */
function hoursOf(dayMs: number, hours: readonly HourUsage[]) {
  const figures = new Map(
    hours.map(({ startMs, admitted, refused, refusedWhileBanned, refusedMinutes }) => {
      const minutes = Object.fromEntries(refusedMinutes.map(({ minute, by }) => [minute, by]));
      const isRefused = refusedMinutes.length > 0;
      return [startMs, isRefused ? [admitted, refused, refusedWhileBanned, minutes] : admitted] as const;
    }),
  );
  const lastMs = Math.max(...figures.keys());
  return Array.from(
    { length: (lastMs - dayMs) / HOUR_MS + 1 },
    (_, i) => figures.get(dayMs + i * HOUR_MS) ?? 0,
  );
}

function insertStrikeBan(keyId: string, { id, strikes, startedAtMs, endsAtMs }: Ban): SQL {
  return sql`
    insert into bans (id, key_id, cause, reason, strikes, started_at, ends_at)
    values (${id}, ${keyId}, 'strikes', null, ${strikes}, ${Math.floor(startedAtMs / 1000)}, ${endsAtMs / 1000})
    on conflict (id) do nothing`;
}
