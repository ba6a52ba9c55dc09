/** D1: sums of the usage that limiters report, one row for each key and UTC day (ADR-22). */
import { and, type SQL, sql } from "drizzle-orm";
import { CUSTOMER_JSON } from "../../db/customers-sql.ts";
import type { Database } from "../../db/database.ts";
import { NEAR_LIMIT_PERCENT, type UsagePeriod, type UsageSort } from "../../db/values.ts";
import { limitsSqlAt, planAt, statusAt } from "../../key/key-state-sql.ts";
import type { LimiterAddress } from "../../key/reach-limiter.ts";
import { HOUR_SQL, SUMS_OF_HOURS } from "../../key/usage-day.ts";
import { DAY_SECONDS, HOUR_SECONDS, nowSeconds } from "../../text/time.ts";
import type { KeyStatus, ShownCustomer } from "../http/answer-schemas.ts";
import type { Position } from "../http/cursor.ts";

export type Figures = {
  readonly admitted: number;
  readonly refused: number;
  readonly refusedWhileBanned: number;
};

/** A range in Unix seconds, without `toSeconds`. A day counts whole if any part of it is in the range. */
export type UsageRange = { readonly fromSeconds: number; readonly toSeconds: number };

export type UsageFilter = UsageRange & {
  readonly key?: string | undefined;
  readonly keys?: readonly string[] | undefined;
  /** The id of a customer. */
  readonly customer?: string | undefined;
  readonly plan?: string | undefined;
};

/** `start` is when the hour or day begins, in Unix seconds. */
type Bucket = Figures & { readonly start: number };

export type HourRow = Bucket & {
  readonly keyId: string;
  /** JSON for `readMinutes`. */
  readonly refusedMinutes: string | null;
};

/** Counts requests of the key `k` that were admitted on the UTC day. */
export function admittedOn(day: number): SQL {
  return sql`coalesce((select admitted from usage where day = ${day} and key_id = k.id), 0)`;
}

/** Returns the first day that has usage, or null. */
export async function findFirstDay(db: Database): Promise<number | null> {
  return (await db.get<{ day: number | null }>(sql`select min(day) as day from usage`)).day;
}

export type KeyFilter = UsageFilter & { readonly key: string };

export async function listHoursOfKeys(db: Database, filter: UsageFilter): Promise<HourRow[]> {
  return db.all<HourRow>(sql`
    select u.key_id as keyId, ${HOUR} as start, ${HOUR_SQL.admitted} as admitted, ${HOUR_SQL.refused} as refused,
      ${HOUR_SQL.refusedWhileBanned} as refusedWhileBanned, ${HOUR_SQL.minutes} as refusedMinutes
    from ${hoursOf(filter)} order by start`);
}

export type DayRow = Figures & {
  readonly keyId: string;
  /** Unix seconds. */
  readonly day: number;
  readonly limitPerDay: number;
};

/** Lists the days with usage of these keys. */
export async function findDaysOfKeys(
  db: Database,
  ids: readonly string[],
  range: UsageRange,
): Promise<DayRow[]> {
  return db.all<DayRow>(sql`
    select u.key_id as keyId, u.day, u.admitted, u.refused, u.refused_while_banned as refusedWhileBanned,
      u.limit_per_day as limitPerDay
    from json_each(${JSON.stringify(ids)}) ids cross join usage u on u.key_id = ids.value
    where ${isOnDays(range)}`);
}

/** Lists the hours or days that have usage. */
export async function listBuckets(
  db: Database,
  filter: UsageFilter,
  by: UsagePeriod,
): Promise<readonly Bucket[]> {
  if (by === "hour") return listHoursOfDays(db, filter);
  const days = isOfFew(filter) ? usageOf(filter) : sql`plan_days u where ${isIn(filter)}`;
  return db.all(sql`select u.day as start, ${SUMS} from ${days} group by start`);
}

/** Lists what all keys of each plan used on a day. */
export async function listPlansOfDay(
  db: Database,
  day: number,
): Promise<(Figures & { readonly plan: string })[]> {
  return db.all(sql`select u.plan, ${SUMS} from plan_days u where day = ${day} group by plan`);
}

/** An hour is a column, as `json_each` would read 24 rows for each day of a key. */
async function listHoursOfDays(db: Database, filter: UsageFilter): Promise<readonly Bucket[]> {
  const { fromSeconds, toSeconds } = filter;
  type Row = { readonly [Name in "day" | keyof Figures]: string };
  const rows = await db.all<Row>(sql`
    select u.day, ${SUMS_OF_HOURS.admitted} as admitted, ${SUMS_OF_HOURS.refused} as refused,
      ${SUMS_OF_HOURS.refusedWhileBanned} as refusedWhileBanned from ${usageOf(filter)} group by u.day`);
  return rows.flatMap(({ day, ...sums }) => {
    // The statement made these texts.
    const of = (json: string) => JSON.parse(json) as number[];
    const [refused, refusedWhileBanned] = [of(sums.refused), of(sums.refusedWhileBanned)];
    return of(sums.admitted)
      .map((admitted, hour) => ({
        start: Number(day) + hour * HOUR_SECONDS,
        admitted,
        refused: refused[hour] ?? 0,
        refusedWhileBanned: refusedWhileBanned[hour] ?? 0,
      }))
      .filter(({ start }) => start >= fromSeconds && start < toSeconds);
  });
}

/** The start of the hour `e` of the day `u`. */
const HOUR = sql`u.day + e.key * ${sql.raw(String(HOUR_SECONDS))}`;

export type Total = Figures & { readonly keyCount: number };

/** Lists the limiters of the key, of the keys that are the customer's or have its use in the range, or of all keys. */
export async function listLimiters(
  db: Database,
  filter: UsageFilter,
  limit: number,
): Promise<LimiterAddress[]> {
  const { key, customer } = filter;
  const ofCustomer = sql`
    select id from api_keys where customer_id = ${customer} union select key_id from usage u where ${isIn(filter)}`;
  const others = customer === undefined ? sql`select key_id as id from limiters` : ofCustomer;
  return db.all<LimiterAddress>(sql`
    select k.id, k.location from (${key === undefined ? others : sql`select ${key} as id`}) asked
    cross join api_keys k on k.id = asked.id cross join limiters l on l.key_id = k.id limit ${limit}`);
}

/** Of the limit of the day `u`. An index has those that are near. */
const DAY_PERCENT = sql`100.0 * u.admitted / u.limit_per_day`;

/** The days of the range that are near their limit. */
function nearDays(range: UsageRange): SQL {
  const isNear = sql`${DAY_PERCENT} >= ${sql.raw(String(NEAR_LIMIT_PERCENT))}`; // a partial index knows no parameter
  return sql`usage u indexed by usage_near_limit where ${isOnDays(range)} and ${isNear}`;
}

/** Lists the keys that came closest to their limit on a day, and were near it. */
export async function listNearest(db: Database, day: UsageRange, limit: number): Promise<string[]> {
  const rows = await db.all<{ id: string }>(
    sql`select u.key_id as id from ${nearDays(day)} order by ${DAY_PERCENT} desc limit ${limit}`,
  );
  return rows.map(({ id }) => id);
}

/** Counts the days of the range on which each key was near its limit. SQL that groups them would read them twice. */
export async function countDaysNear(db: Database, range: UsageRange): Promise<ReadonlyMap<string, number>> {
  const rows = await db.all<{ ids: string }>(
    sql`select json_group_array(u.key_id) as ids from ${nearDays(range)}`,
  );
  // The statement made this text.
  const ids = JSON.parse(rows[0]?.ids ?? "[]") as string[];
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

type Page = {
  readonly sort: UsageSort;
  readonly direction: "asc" | "desc";
  readonly after?: Position | undefined;
  readonly limit: number;
};

/**
 * A key, or the keys of a customer, with the position in the sorted table. The figures are sums. The
 * percentages are of each day's limit, those of the key that comes closest: by its days near the limit, then by its peak.
 */
export type GroupRow = Figures &
  Position<string | number> & {
    readonly keyCount: number;
    /** The mean of the days. */
    readonly percent: number;
    /** Days at 80 % or more. */
    readonly daysNear: number;
    readonly peakPercent: number;
    /** What follows is of a key. */
    readonly keyName: string;
    readonly customer: ShownCustomer | null;
    readonly status: KeyStatus;
    readonly plan: string;
    readonly perMinute: number;
    readonly perDay: number;
  };

const SUMS = sql`coalesce(sum(u.admitted), 0) as admitted, coalesce(sum(u.refused), 0) as refused,
  coalesce(sum(u.refused_while_banned), 0) as refusedWhileBanned`;

/** `part` divides the days of a key. `rows` are the sums by key and part, `u`, with the keys, `k`. */
export type UsageGroups = Readonly<Record<"part" | "rows" | "id" | "name", SQL>>;

/** The keys that were in use. */
export const ALL_KEYS: UsageGroups = {
  part: sql`null`,
  rows: sql`by_key u cross join api_keys k on k.id = u.key_id`,
  id: sql`k.id`,
  name: sql`k.name`,
};

/** The customers `c` that match, also those without any use. */
export function allCustomers(isMatch: SQL): UsageGroups {
  return {
    part: sql`u.customer_id`,
    rows: sql`(select * from customers c where ${isMatch}) c left join by_key u on u.part = c.id left join api_keys k on k.id = u.key_id`,
    id: sql`c.id`,
    name: sql`c.name_key`,
  };
}

/**
 * Reads the total, and at most one row more than the page has. `days` of the range have begun.
 *
 * Days are summed by key before anything is joined, and what only a page shows is read for its rows. SQLite takes
 * the columns of `groups` that are no sums from the row with the maximum, and so from the closest key.
 */
export async function listGroups(
  db: Database,
  { part, rows: from, id, name }: UsageGroups,
  filter: UsageFilter,
  { sort, direction, after, limit }: Page,
  days: number,
): Promise<{ readonly rows: readonly GroupRow[]; readonly total: Total }> {
  const by = sql.raw(direction);
  const isAfter = after
    ? sql`(value, id) ${sql.raw(direction === "asc" ? ">" : "<")} (${after.value}, ${after.id})`
    : sql`true`;
  const now = nowSeconds();
  const { perMinute, perDay } = limitsSqlAt(now);
  type Row = Omit<GroupRow, "customer"> & { readonly customer: string; readonly total: string };
  const rows = await db.all<Row>(sql`
    with by_key as materialized (
      select u.key_id, ${part} as part, sum(${DAY_PERCENT}) / ${days} as percent, max(100.0 * u.peak / u.limit_per_day) as peak,
        sum(u.days_near) as days_near, sum(u.admitted) as admitted, sum(u.refused) as refused,
        sum(u.refused_while_banned) as refused_while_banned
      from ${sumsOf(filter)} group by 1, 2),
    total as (
      select json_object('keyCount', keyCount, 'admitted', admitted, 'refused', refused,
        'refusedWhileBanned', refusedWhileBanned) as total from (select count(distinct key_id) as keyCount, ${SUMS} from by_key u)),
    groups as (
      select ${id} as id, ${name} as name, count(distinct k.id) as keyCount, ${SUMS}, round(coalesce(u.percent, 0), 1) as percent,
        coalesce(u.days_near, 0) as daysNear, round(coalesce(u.peak, 0), 1) as peak,
        max(coalesce(u.days_near * 1000 + min(u.peak, 999), 0)) as near
      from ${from} group by 1),
    page as materialized (
      select *, ${sql.raw(sort)} as value from groups where ${isAfter} order by value ${by}, id ${by} limit ${limit + 1})
    select total, page.*, peak as peakPercent, k.name as keyName, ${CUSTOMER_JSON} as customer, ${statusAt(now)} as status, k.plan,
      ${perMinute} as perMinute, ${perDay} as perDay
    from total left join page on true left join api_keys k on k.id = page.id left join plans p on p.id = ${planAt(now)}
    left join customers c on c.id = k.customer_id
    order by value ${by}, page.id ${by}`);
  return {
    rows: rows
      .filter((row) => row.id !== null)
      .map(({ customer, ...row }) => ({ ...row, customer: JSON.parse(customer) })),
    // The statement made this text.
    total: JSON.parse(rows[0]?.total ?? "{}") as Total,
  };
}

/** Whether the filter reads more rows than this. Of all keys, triggers have counted the days. */
export async function isMoreThan(
  db: Database,
  max: number,
  filter: UsageFilter,
  of: "days" | "sums",
): Promise<boolean> {
  const rows = of === "days" ? usageOf(filter) : sumsOf(filter);
  const days = isOfFew(filter)
    ? sql`${max + 1}`
    : sql`(select coalesce(sum(keys), 0) from plan_days u where ${isIn(filter)})`;
  const { n } = await db.get<{ n: number }>(sql`
    select iif(${days} <= ${max}, 0, (select count(*) from (select 1 from ${rows} limit ${max + 1}))) as n`);
  return n > max;
}

/** The days of the filter. */
function usageOf(filter: UsageFilter): SQL {
  return sql`usage u where ${isIn(filter)}`;
}

/** The index has the days of few keys together. */
function isOfFew({ key, keys, customer }: UsageFilter): boolean {
  return (key ?? keys ?? customer) !== undefined;
}

const FORTNIGHT = 14 * DAY_SECONDS;

/**
 * Sums of days by key, customer, plan and limit: of whole fortnights, as far as they are summed, and of each day
 * before and after them (ADR-41).
 */
function sumsOf(filter: UsageFilter): SQL {
  const days = (isIncluded: SQL) => sql`
    select key_id, customer_id, plan, limit_per_day, admitted, refused, refused_while_banned,
      ${DAY_PERCENT} >= ${NEAR_LIMIT_PERCENT} as days_near, admitted as peak
    from usage u where ${isIncluded}`;
  if (isOfFew(filter)) return sql`(${days(isIn(filter))}) u`;
  const { fromSeconds, toSeconds, plan } = filter;
  const isOfPlan = plan === undefined ? sql`true` : sql`plan = ${plan}`;
  const start = Math.ceil((fromSeconds - (fromSeconds % DAY_SECONDS)) / FORTNIGHT) * FORTNIGHT;
  const summed = sql`(select day from key_fortnights_end)`;
  const end = sql`max(${start}, iif(${toSeconds} >= ${summed}, ${summed}, ${toSeconds - (toSeconds % FORTNIGHT)}))`;
  // Each part has one lower and one upper bound: an index uses no second one.
  return sql`(
    select key_id, nullif(customer_id, '') as customer_id, plan, limit_per_day, admitted, refused, refused_while_banned, days_near, peak
    from key_fortnights where start >= ${start} and start < ${end} and ${isOfPlan}
    union all ${days(isIn({ ...filter, toSeconds: Math.min(start, toSeconds) }))}
    union all ${days(sql`u.day >= ${end} and u.day < ${toSeconds} and ${isOfPlan}`)}) u`;
}

/** The hours `e` of the days `u` of the filter. */
function hoursOf(filter: UsageFilter): SQL {
  const { fromSeconds, toSeconds } = filter;
  return sql`usage u cross join json_each(u.hours) e
    where ${isIn(filter)} and ${HOUR} >= ${fromSeconds} and ${HOUR} < ${toSeconds}`;
}

/** The days of the range that belong to the key, customer and plan of the filter. */
export function isIn(filter: UsageFilter): SQL {
  const { key, keys, customer, plan } = filter;
  const isOfAll = and(
    isOnDays(filter),
    key === undefined ? undefined : sql`u.key_id = ${key}`,
    keys && sql`u.key_id in (select value from json_each(${JSON.stringify(keys)}))`,
    customer === undefined ? undefined : sql`u.customer_id = ${customer}`,
    plan === undefined ? undefined : sql`u.plan = ${plan}`,
  );
  return sql`${isOfAll}`;
}

function isOnDays({ fromSeconds, toSeconds }: UsageRange): SQL {
  return sql`u.day >= ${fromSeconds - (fromSeconds % DAY_SECONDS)} and u.day < ${toSeconds}`;
}
