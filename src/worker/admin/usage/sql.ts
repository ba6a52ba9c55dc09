/** D1: sums of the usage that limiters report, one row for each key and UTC day (ADR-22). */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { NEAR_LIMIT_PERCENT, type UsageGroup, type UsagePeriod, type UsageSort } from "../../db/values.ts";
import { limitsAt } from "../../key/limits-sql.ts";
import type { LimiterAddress } from "../../key/reach-limiter.ts";
import { HOUR_SQL } from "../../key/usage-day.ts";
import { foldCase } from "../../text/text.ts";
import { DAY_SECONDS, HOUR_SECONDS, nowSeconds } from "../../text/time.ts";
import type { Position } from "../http/cursor.ts";

export type Figures = {
  readonly admitted: number;
  readonly refused: number;
  readonly refusedWhileBanned: number;
};

/** A range in Unix seconds, without `toSeconds`. A day counts whole if any part of it is in the range. */
export type Range = { readonly fromSeconds: number; readonly toSeconds: number };

export type UsageFilter = Range & {
  readonly key?: string | undefined;
  /** The owner's name, or the e-mail address of an owner without a name; in any case. */
  readonly owner?: string | undefined;
  readonly plan?: string | undefined;
};

/** `start` is when the hour or day begins, in Unix seconds. */
type Bucket = Figures & { readonly start: number };

export type HourRow = Bucket & {
  /** JSON for `readMinutes`. */
  readonly refusedMinutes: string | null;
};

/** Counts requests of the key `k` that were admitted on the UTC day. */
export function admittedOn(day: number): SQL {
  return sql`coalesce((select admitted from usage where day = ${day} and key_id = k.id), 0)`;
}

export async function listHoursOfKey(db: Database, keyId: string, range: Range): Promise<HourRow[]> {
  return db.all<HourRow>(sql`
    select ${HOUR} as start, ${HOUR_SQL.admitted} as admitted, ${HOUR_SQL.refused} as refused,
      ${HOUR_SQL.refusedWhileBanned} as refusedWhileBanned, ${HOUR_SQL.minutes} as refusedMinutes
    from ${hoursOf({ ...range, key: keyId })} order by start`);
}

/**
 * Lists the hours or days that have usage, the oldest first. Each has the number of keys that were in use in the
 * range: keys are far fewer than their days.
 */
export async function listBuckets(
  db: Database,
  filter: UsageFilter,
  by: UsagePeriod,
): Promise<readonly (Bucket & { readonly keyCount: number })[]> {
  const keyCount = sql`(select count(*) from api_keys k where ${isEverOf(sql`k.id`, filter)}
    and exists (select 1 from usage u where u.key_id = k.id and ${isIn(filter)})) as keyCount`;
  const buckets =
    by === "day"
      ? sql`select u.day as start, ${keyCount}, ${SUMS} from ${usageOf(filter)}`
      : sql`
        select ${HOUR} as start, ${keyCount}, sum(${HOUR_SQL.admitted}) as admitted, sum(${HOUR_SQL.refused}) as refused,
          sum(${HOUR_SQL.refusedWhileBanned}) as refusedWhileBanned from ${hoursOf(filter)}`;
  return db.all(sql`${buckets} group by start order by start`);
}

/** The start of the hour `e` of the day `u`. */
const HOUR = sql`u.day + e.key * ${sql.raw(String(HOUR_SECONDS))}`;

export type Total = Figures & { readonly keyCount: number };

/** Lists the limiters of the keys that are or were of the filter, in any order. */
export async function listLimiters(
  db: Database,
  filter: UsageFilter,
  limit: number,
): Promise<LimiterAddress[]> {
  return db.all<LimiterAddress>(sql`
    select k.id, k.location from limiters l cross join api_keys k on k.id = l.key_id
    where ${isEverOf(sql`l.key_id`, filter)} limit ${limit}`);
}

type Page = {
  readonly sort: UsageSort;
  readonly direction: "asc" | "desc";
  readonly after?: Position | undefined;
  readonly limit: number;
};

/** Percentages of each day's limit. A day without usage is 0 %. */
export type Closeness = {
  /** Days at 80 % or more. */
  readonly daysNear: number;
  readonly medianPercent: number;
  readonly peakPercent: number;
};

/**
 * A key, or the keys of an owner or plan, with the position in the sorted table. The figures are sums.
 * Everything else describes the key that comes closest to its limit, by its days near the limit and then by
 * its peak.
 */
export type GroupRow = Figures &
  Closeness &
  Position<string | number> & {
    readonly nearKey: string;
    readonly keyName: string;
    readonly ownerName: string | null;
    readonly ownerEmail: string | null;
    readonly plan: string;
    readonly perMinute: number;
    readonly perDay: number;
    /** The mean percentage of the days. */
    readonly percent: number;
    readonly keyCount: number;
  };

/** The owner and the plan on the day: those of `past`, or of the key. Names are columns of both tables. */
const atTheDay = (column: string) =>
  sql`iif(past.key_id is null, k.${sql.raw(column)}, past.${sql.raw(column)})`;
/** The end of the days of the present owner. */
const EVER = sql.raw(String(Number.MAX_SAFE_INTEGER));
/** Which owner of the key the day belongs to, by the end of that owner's days. */
const UNTIL = sql`coalesce((select min(until_day) from past_owners where key_id = u.key_id and until_day > u.day), ${EVER})`;
const SUMS = sql`coalesce(sum(u.admitted), 0) as admitted, coalesce(sum(u.refused), 0) as refused,
  coalesce(sum(u.refused_while_banned), 0) as refusedWhileBanned`;
const GROUPS: Readonly<Record<UsageGroup, { readonly id: SQL; readonly name: SQL }>> = {
  key: { id: sql`k.id`, name: sql`k.name` },
  owner: { id: atTheDay("owner_key"), name: atTheDay("owner_key") },
  plan: { id: atTheDay("plan"), name: atTheDay("plan") },
};

/**
 * Reads the total, and at most one row more than the page has. `days` of the range have begun.
 *
 * Days are summed by key before anything is joined, and what only a page shows is read for its rows. The days
 * of a key that had another owner or plan in the range are summed again, by owner and plan. SQLite takes the columns of `groups` that are no sums from the row with the maximum, and so from the closest key.
 */
export async function listGroups(
  db: Database,
  group: UsageGroup,
  filter: UsageFilter,
  { sort, direction, after, limit }: Page,
  days: number,
): Promise<{ readonly rows: readonly GroupRow[]; readonly total: Total }> {
  const { id, name } = GROUPS[group];
  const by = sql.raw(direction);
  const isAfter = after
    ? sql`(value, id) ${sql.raw(direction === "asc" ? ">" : "<")} (${after.value}, ${after.id})`
    : sql`true`;
  const percent = sql`100.0 * u.admitted / u.limit_per_day`;
  const middle = { first: Math.floor((days - 1) / 2), count: days % 2 === 0 ? 2 : 1 };
  const { perMinute, perDay } = limitsAt(nowSeconds());
  const figures = sql`sum(${percent}) / ${days} as percent, max(${percent}) as peak,
    sum(${percent} >= ${NEAR_LIMIT_PERCENT}) as days_near, sum(u.admitted) as admitted, sum(u.refused) as refused,
    sum(u.refused_while_banned) as refused_while_banned`;
  const isMoved = group === "key" ? sql`false` : sql`until_day > ${filter.fromSeconds}`;
  const rows = await db.all<GroupRow & { readonly total: string }>(sql`
    with by_key as materialized (
      select u.key_id, null as until, ${figures} from ${usageOf(filter)} group by u.key_id),
    moved as materialized (select distinct key_id from past_owners where ${isMoved}),
    by_owner as (
      select * from by_key where key_id not in moved
      union all
      select u.key_id, ${UNTIL} as until, ${figures} from ${usageOf(filter)} and u.key_id in moved group by 1, 2),
    total as (
      select json_object('keyCount', keyCount, 'admitted', admitted, 'refused', refused,
        'refusedWhileBanned', refusedWhileBanned) as total from (select count(*) as keyCount, ${SUMS} from by_key u)),
    groups as (
      select ${id} as id, ${name} as name, count(distinct k.id) as keyCount, ${SUMS}, round(u.percent, 1) as percent,
        u.days_near as daysNear, round(u.peak, 1) as peak, max(u.days_near * 1000 + min(u.peak, 999)) as near,
        k.id as nearKey, u.until as nearUntil
      from by_owner u cross join api_keys k on k.id = u.key_id
      left join past_owners past on past.key_id = u.key_id and past.until_day = u.until group by 1),
    page as materialized (
      select *, ${sql.raw(sort)} as value from groups where ${isAfter} order by value ${by}, id ${by} limit ${limit + 1})
    select total, page.*, peak as peakPercent, k.name as keyName, ${atTheDay("owner_name")} as ownerName,
      ${atTheDay("owner_email")} as ownerEmail, ${atTheDay("plan")} as plan, ${perMinute} as perMinute, ${perDay} as perDay, (
      select round(coalesce(sum(percent), 0) / ${middle.count}, 1) from (
        select ${percent} as percent from usage u where u.key_id = page.nearKey and ${isOnDays(filter)}
          and (page.nearUntil is null or page.nearUntil = ${UNTIL})
        order by 1 desc limit ${middle.count} offset ${middle.first})) as medianPercent
    from total left join page on true left join api_keys k on k.id = page.nearKey left join plans p on p.id = k.plan
    left join past_owners past on past.key_id = page.nearKey and past.until_day = page.nearUntil
    order by value ${by}, page.id ${by}`);
  return {
    rows: rows.filter(({ id }) => id !== null),
    // The statement made this text.
    total: JSON.parse(rows[0]?.total ?? "{}") as Total,
  };
}

/** Counts the days of keys in the filter, up to `max` and one more. */
export async function countDays(db: Database, filter: UsageFilter, max: number): Promise<number> {
  const [row] = await db.all<{ days: number }>(
    sql`select count(*) as days from (select 1 from ${usageOf(filter)} limit ${max + 1})`,
  );
  return row?.days ?? 0;
}

/** The days of the filter. */
function usageOf(filter: UsageFilter): SQL {
  return sql`usage u where ${isIn(filter)}`;
}

/** The hours `e` of the days `u` of the filter. */
function hoursOf(filter: UsageFilter): SQL {
  const { fromSeconds, toSeconds } = filter;
  return sql`usage u cross join json_each(u.hours) e
    where ${isIn(filter)} and ${HOUR} >= ${fromSeconds} and ${HOUR} < ${toSeconds}`;
}

/** The days of the range that belong to the key, owner and plan of the filter. */
function isIn(filter: UsageFilter): SQL {
  const isOfAll = filter.owner === undefined && filter.plan === undefined;
  const isOfOwner = isOfAll
    ? sql`true`
    : sql`(u.key_id not in (select key_id from past_owners)
      or exists (select 1 from past_owners k where k.key_id = u.key_id and k.until_day = ${UNTIL} and ${isOf(filter)})
      or exists (select 1 from api_keys k where k.id = u.key_id and ${UNTIL} = ${EVER} and ${isOf(filter)}))`;
  return sql`${isOnDays(filter)} and ${isEverOf(sql`u.key_id`, filter)} and ${isOfOwner}`;
}

function isOnDays({ fromSeconds, toSeconds }: Range): SQL {
  return sql`u.day >= ${fromSeconds - (fromSeconds % DAY_SECONDS)} and u.day < ${toSeconds}`;
}

/** Whether the key is or was one of the filter. */
function isEverOf(keyId: SQL, filter: UsageFilter): SQL {
  const { key, owner, plan } = filter;
  const isOfAll = owner === undefined && plan === undefined;
  const isKey = key === undefined ? sql`true` : sql`${keyId} = ${key}`;
  if (isOfAll) return isKey;
  return sql`${isKey} and ${keyId} in (
    select k.id from api_keys k where ${isOf(filter)} union select k.key_id from past_owners k where ${isOf(filter)})`;
}

/** Whether the row `k`, of a key or of its past owner, is of the owner and plan. */
function isOf({ owner, plan }: UsageFilter): SQL {
  const isOwner = owner === undefined ? sql`true` : sql`k.owner_key = ${foldCase(owner)}`;
  return plan === undefined ? isOwner : sql`${isOwner} and k.plan = ${plan}`;
}
