/** D1: loads the policies of the limiters of keys and customers, and stores the limiter's reports. */
import { type SQL, sql } from "drizzle-orm";
import type { Ban, HourUsage, Report } from "hono-durable-limiter";
import { type Conditional, type Database, render, transact } from "../db/database.ts";
import type { KEY_STATUSES } from "../db/values.ts";
import { HOUR_SECONDS } from "../text/time.ts";
import {
  limitsSqlAt,
  nextPlanFromAfter,
  permanentLimits,
  planAt,
  temporaryUntilAt,
} from "./key-state-sql.ts";
import { dayMsOf, upsertDay } from "./usage-day.ts";

export type KeyPolicyRow = {
  readonly plan: string;
  /** 0: nobody tells the limiter of a change. */
  readonly hasLimiter: 0 | 1;
  readonly status: (typeof KEY_STATUSES)[number];
  readonly mayCancel: 0 | 1;
  readonly perMinute: number;
  readonly perDay: number;
  /** When temporary limits end, or the planned plan begins. Null: neither is to come. They exclude each other. */
  readonly laterFrom: number | null;
  readonly laterPerMinute: number;
  readonly laterPerDay: number;
  readonly bannedUntil: number | null;
  readonly banReason: string | null;
  readonly pardonedBanId: string | null;
  /** JSON: the shares of the day that cause an alert. */
  readonly alertPercents: string | null;
  /** JSON: the hash and expiry of each valid secret, or the key's expiry if that is earlier. */
  readonly secrets: string;
  /** The customer, if it has a limit. */
  readonly shared: string | null;
};

export type CustomerPolicyRow = Pick<KeyPolicyRow, "hasLimiter"> & {
  readonly perMinute: number | null;
  readonly perDay: number | null;
};

/** Reads the policy at a time of the object's clock. */
export async function loadKeyPolicy(
  db: Database,
  id: string,
  nowSeconds: number,
): Promise<KeyPolicyRow | undefined> {
  const { perMinute, perDay } = limitsSqlAt(nowSeconds);
  const later = permanentLimits("later", "p");
  // Operators end secrets by D1's clock, so D1's clock says whether a secret has ended. The limiter judges
  // later ends. It stores the policy, so the policy has no secrets that have ended.
  const select = sql`
    select p.id as plan, k.status, k.may_cancel as mayCancel, k.banned_until as bannedUntil, k.ban_reason as banReason,
      k.pardoned_ban_id as pardonedBanId, p.alert_percents as alertPercents,
      exists (select 1 from limiters where key_id = k.id) as hasLimiter,
      ${perMinute} as perMinute, ${perDay} as perDay,
      coalesce(${temporaryUntilAt(nowSeconds)}, ${nextPlanFromAfter(nowSeconds)}) as laterFrom,
      ${later.perMinute} as laterPerMinute, ${later.perDay} as laterPerDay,
      (select json_group_array(json_array(hash,
          min(coalesce(expires_at, k.expires_at), coalesce(k.expires_at, expires_at))))
        from key_secrets where key_id = k.id and (expires_at is null or expires_at > unixepoch())) as secrets,
      (select c.id from customers c where c.id = k.customer_id and coalesce(c.requests_per_minute, c.requests_per_day) is not null) as shared
    from api_keys k join plans p on p.id = ${planAt(nowSeconds)}
      left join plans later on later.id = k.next_plan where k.id = ${id}`;
  return loadNoted(db, id, select);
}

export async function loadCustomerPolicy(db: Database, id: string): Promise<CustomerPolicyRow | undefined> {
  const select = sql`
    select requests_per_minute as perMinute, requests_per_day as perDay,
      exists (select 1 from limiters where key_id = c.id) as hasLimiter
    from customers c where id = ${id}`;
  return loadNoted(db, id, select);
}

/**
 * D1 runs queries one after the other: either the read sees a change, or the change sees the row in `limiters` and
 * the limiter is told (ADR-4).
 */
async function loadNoted<Row extends Pick<KeyPolicyRow, "hasLimiter">>(
  db: Database,
  id: string,
  select: SQL,
): Promise<Row | undefined> {
  // D1 repeats a query that only reads, so this read comes first. A change after the read may see no limiter,
  // so the batch notes the limiter and reads again. Without a key too: the key may be created again.
  const read = await db.get<Row | undefined>(select);
  if (read?.hasLimiter === 1) return read;
  const [, [row]] = await transact<[never, Row]>(db, [
    sql`insert into limiters (key_id) values (${id}) on conflict do nothing`,
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
  { key: keyId, hours, bans, credentials }: Report,
  alerts: readonly Conditional[],
): Promise<void> {
  const days = Map.groupBy(hours, ({ startMs }) => dayMsOf(startMs));
  const statements = [
    ...Array.from(days, ([dayMs, hoursOfDay]) => upsertDay(keyId, dayMs, hoursOfDay, credentials)),
    ...hours
      .filter(({ admitted }) => admitted > 0)
      .slice(0, 1)
      .map((hour) => setFirstUse(keyId, hour)),
    ...bans.map((ban) => insertStrikeBan(keyId, ban)),
    ...alerts.map((alert) => render(alert, sql`true`)),
  ];
  if (statements.length > 0) await transact(db, statements);
}

/** The first admitted request of a key is reported at once. Its hour bounds a report that comes later. */
function setFirstUse(keyId: string, { startMs }: HourUsage): SQL {
  const start = startMs / 1000;
  const firstUsedAt = sql`max(${start}, min(unixepoch(), ${start + HOUR_SECONDS - 1}))`;
  return sql`update api_keys set first_used_at = ${firstUsedAt} where id = ${keyId} and first_used_at is null`;
}

function insertStrikeBan(keyId: string, { id, strikes, startedAtMs, endsAtMs }: Ban): SQL {
  return sql`
    insert into bans (id, key_id, customer_id, cause, reason, strikes, started_at, ends_at)
    values (${id}, ${keyId}, (select customer_id from api_keys where id = ${keyId}), 'strikes', null, ${strikes},
      ${Math.floor(startedAtMs / 1000)}, ${endsAtMs / 1000})
    on conflict (id) do nothing`;
}
