/** D1: the usage that limiters report, one row for each key and UTC hour (ADR-22). */
import { type SQL, sql } from "drizzle-orm";
import { type Database, transact } from "../../db/database.ts";
import { type LimitsSql, limitsAt } from "../../db/limits-sql.ts";
import type { UsageSort } from "../../db/values.ts";
import { DAY_SECONDS, nowSeconds } from "../../time.ts";

export type Figures = {
  readonly admitted: number;
  readonly refused: number;
  readonly refusedWhileBanned: number;
};

/** `hour` is when the hour begins, in Unix seconds. */
export type HourRow = Figures & {
  readonly hour: number;
  /** JSON: for each minute with refusals, by what and how many. */
  readonly refusedMinutes: string | null;
};

export async function listUsageOfKey(db: Database, keyId: string, fromSeconds: number): Promise<HourRow[]> {
  return db.all<HourRow>(sql`
    select hour, admitted, refused, refused_while_banned as refusedWhileBanned, refused_minutes as refusedMinutes
    from usage where key_id = ${keyId} and hour >= ${fromSeconds} order by hour`);
}

export type Bucket = Figures & { readonly start: number };

/** Sums of all keys, for each bucket of the range that has usage. Times are Unix seconds, buckets whole hours. */
export async function listTotals(
  db: Database,
  range: { readonly fromSeconds: number; readonly toSeconds: number; readonly bucketSeconds: number },
): Promise<Bucket[]> {
  const { fromSeconds, toSeconds, bucketSeconds } = range;
  return db.all<Bucket>(sql`
    select ${fromSeconds} + (u.hour - ${fromSeconds}) / ${bucketSeconds} * ${bucketSeconds} as start, ${SUMS}
    from usage u where u.hour >= ${fromSeconds} and u.hour < ${toSeconds} group by start order by start`);
}

/** The usage of a key on a day. */
export type KeyUsage = Figures & {
  readonly keyId: string;
  readonly keyName: string;
  readonly ownerName: string | null;
  readonly ownerEmail: string | null;
  readonly plan: string;
  /** The limits in force now. */
  readonly perMinute: number;
  readonly perDay: number;
  /** Admitted, of the limit of the day in force now, with one decimal. */
  readonly percent: number;
};

export type PlanUsage = Figures & { readonly plan: string; readonly keyCount: number };
export type PlanHour = Figures & { readonly plan: string; readonly hour: number };

export type DayUsage = {
  readonly keys: readonly KeyUsage[];
  readonly plans: readonly PlanUsage[];
  /** In order. An hour without requests is left out. */
  readonly hours: readonly PlanHour[];
};

/** The last key of a page: what the list is sorted by, and its id. */
export type UsagePosition = { readonly value: number; readonly id: string };

const SUMS = sql`sum(u.admitted) as admitted, sum(u.refused) as refused, sum(u.refused_while_banned) as refusedWhileBanned`;

/** The page of keys and the sums of all keys, of one moment. Highest first, then by id. */
export async function readUsageOfDay(
  db: Database,
  dayStartSeconds: number,
  { sort, limit, after }: { sort: UsageSort; limit: number; after?: UsagePosition | undefined },
): Promise<DayUsage> {
  const ofDay = sql`u.hour >= ${dayStartSeconds} and u.hour < ${dayStartSeconds + DAY_SECONDS}`;
  const [keys, plans, hours] = await transact<[KeyUsage, PlanUsage, PlanHour]>(db, [
    sql`
      select * from (${usageByKey(ofDay, limitsAt(nowSeconds()))})
      where ${after ? sql`(${SORTED_BY[sort]}, keyId) < (${after.value}, ${after.id})` : sql`true`}
      order by ${SORTED_BY[sort]} desc, keyId desc limit ${limit}`,
    sql`
      select k.plan, count(distinct k.id) as keyCount, ${SUMS}
      from usage u join api_keys k on k.id = u.key_id where ${ofDay} group by k.plan order by k.plan`,
    sql`
      select k.plan, u.hour, ${SUMS}
      from usage u join api_keys k on k.id = u.key_id where ${ofDay} group by k.plan, u.hour order by u.hour`,
  ]);
  return { keys, plans, hours };
}

const SORTED_BY: Readonly<Record<UsageSort, SQL>> = {
  admitted: sql`admitted`,
  refused: sql`refused`,
  percent: sql`percent`,
};

function usageByKey(ofDay: SQL, { perMinute, perDay }: LimitsSql): SQL {
  return sql`
    select k.id as keyId, k.name as keyName, k.owner_name as ownerName, k.owner_email as ownerEmail, k.plan,
      ${perMinute} as perMinute, ${perDay} as perDay,
      round(100.0 * sum(u.admitted) / max(1, ${perDay}), 1) as percent, ${SUMS}
    from usage u join api_keys k on k.id = u.key_id join plans p on p.id = k.plan
    where ${ofDay} group by k.id`;
}
