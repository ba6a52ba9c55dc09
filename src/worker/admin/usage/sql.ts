/** D1: sums of the usage that limiters report, one row for each key and UTC day (ADR-22). */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { limitsAt } from "../../db/limits-sql.ts";
import { HOUR_SQL } from "../../db/usage-sql.ts";
import type { UsageGroup, UsagePeriod, UsageSort } from "../../db/values.ts";
import { foldCase } from "../../text.ts";
import { DAY_SECONDS, HOUR_SECONDS, nowSeconds } from "../../time.ts";
import type { Position } from "../http/cursor.ts";

export type Figures = {
  readonly admitted: number;
  readonly refused: number;
  readonly refusedWhileBanned: number;
};

/** Unix seconds. `toSeconds` is not included. A day counts whole if any part of the day is in the range. */
export type Range = { readonly fromSeconds: number; readonly toSeconds: number };

export type UsageFilter = Range & {
  readonly key?: string | undefined;
  /** The owner's name, or the e-mail address of an owner without a name; in any case. */
  readonly owner?: string | undefined;
  readonly plan?: string | undefined;
};

/** `start` is when the hour or day begins, in Unix seconds. */
export type Bucket = Figures & { readonly start: number };

export type HourRow = Bucket & {
  /** JSON: for each minute with refusals, by what and how many. */
  readonly refusedMinutes: string | null;
};

export async function listHoursOfKey(db: Database, keyId: string, range: Range): Promise<HourRow[]> {
  return db.all<HourRow>(sql`
    select ${HOUR} as start, ${HOUR_SQL.admitted} as admitted, ${HOUR_SQL.refused} as refused,
      ${HOUR_SQL.banned} as refusedWhileBanned, ${HOUR_SQL.minutes} as refusedMinutes
    from ${hoursOf({ ...range, key: keyId })} order by start`);
}

/** Only the buckets that have usage, oldest first. */
export async function listBuckets(db: Database, filter: UsageFilter, by: UsagePeriod): Promise<Bucket[]> {
  const buckets =
    by === "day"
      ? sql`select u.day as start, ${SUMS} from ${usageOf(filter)}`
      : sql`
        select ${HOUR} as start, sum(${HOUR_SQL.admitted}) as admitted, sum(${HOUR_SQL.refused}) as refused,
          sum(${HOUR_SQL.banned}) as refusedWhileBanned from ${hoursOf(filter)}`;
  return db.all<Bucket>(sql`${buckets} group by start order by start`);
}

/** When the hour `e` of the day `u` begins. */
const HOUR = sql`u.day + e.key * ${sql.raw(String(HOUR_SECONDS))}`;

export type Total = Figures & { readonly keyCount: number };

/** How many keys were in use on a day of the range. Keys are far fewer than their days. */
export async function countKeys(db: Database, filter: UsageFilter): Promise<number> {
  const [row] = await db.all<{ keyCount: number }>(sql`
    select count(*) as keyCount from api_keys k where ${isOfKey(filter)}
      and exists (select 1 from usage u where u.key_id = k.id and ${isOnDays(filter)})`);
  return row?.keyCount ?? 0;
}

/** A row and its place in the sorted table. */
export type Placed<Row> = Row & Position<string | number>;
export type Page<Sort> = {
  readonly sort: Sort;
  readonly direction: "asc" | "desc";
  readonly after?: Position<string | number | null> | undefined;
  readonly limit: number;
};

export type KeyUsage = Figures & {
  readonly keyName: string;
  readonly ownerName: string | null;
  readonly ownerEmail: string | null;
  readonly plan: string;
  readonly perMinute: number;
  readonly perDay: number;
  readonly percent: number;
};
export type OwnerUsage = Figures & { readonly owner: string | null; readonly keyCount: number };
export type PlanUsage = Figures & { readonly plan: string; readonly keyCount: number };

export const OWNER = sql`coalesce(k.owner_name, k.owner_email)`;
export const OWNER_ID = sql`k.owner_key`;
const SUMS = sql`coalesce(sum(u.admitted), 0) as admitted, coalesce(sum(u.refused), 0) as refused,
  coalesce(sum(u.refused_while_banned), 0) as refusedWhileBanned`;

/** Of the usage `u` by key. `days` of the range have begun; on a day without usage a key used 0 % of its limit. */
const GROUPS: Readonly<Record<UsageGroup, (days: number) => { id: SQL; name: SQL; columns: SQL }>> = {
  key: (days) => {
    const { perMinute, perDay } = limitsAt(nowSeconds());
    return {
      id: sql`k.id`,
      name: sql`k.name`,
      columns: sql`k.name as keyName, k.owner_name as ownerName, k.owner_email as ownerEmail, k.plan,
        ${perMinute} as perMinute, ${perDay} as perDay, round(sum(u.percents) / ${days}, 1) as percent`,
    };
  },
  owner: () => ({ id: OWNER_ID, name: OWNER_ID, columns: sql`max(${OWNER}) as owner, count(*) as keyCount` }),
  plan: () => ({ id: sql`k.plan`, name: sql`k.plan`, columns: sql`k.plan, count(*) as keyCount` }),
};

/**
 * The total, and one row more than the page has, if there are more. Sums by key come first: then few rows are
 * joined with keys.
 */
export async function listGroups<Row extends object>(
  db: Database,
  group: UsageGroup,
  filter: UsageFilter,
  { sort, direction, after, limit }: Page<UsageSort>,
  days: number,
): Promise<{ readonly rows: readonly Placed<Row>[]; readonly total: Total }> {
  const { id, name, columns } = GROUPS[group](days);
  const by = sql.raw(direction);
  const isAfter = after
    ? sql`(value, id) ${sql.raw(direction === "asc" ? ">" : "<")} (${after.value}, ${after.id})`
    : sql`true`;
  const rows = await db.all<Placed<Row> & { readonly total: string }>(sql`
    with by_key as materialized (
      select u.key_id, sum(100.0 * u.admitted / u.limit_per_day) as percents, sum(u.admitted) as admitted,
        sum(u.refused) as refused, sum(u.refused_while_banned) as refused_while_banned
      from ${usageOf(filter)} group by u.key_id),
    total as (
      select json_object('keyCount', keyCount, 'admitted', admitted, 'refused', refused,
        'refusedWhileBanned', refusedWhileBanned) as total from (select count(*) as keyCount, ${SUMS} from by_key u)),
    groups as (
      select ${id} as id, ${name} as name, ${columns}, ${SUMS}
      from by_key u cross join api_keys k on k.id = u.key_id cross join plans p on p.id = k.plan group by ${id})
    select * from total left join (select *, ${sql.raw(sort)} as value from groups) on ${isAfter}
    order by value ${by}, id ${by} limit ${limit + 1}`);
  return {
    rows: rows.filter(({ id }) => id !== null),
    // The statement made this text.
    total: JSON.parse(rows[0]?.total ?? "{}") as Total,
  };
}

/** `sort` is a column of `rows`, or an expression of them. They have an `id`. */
export function selectPage(rows: SQL, { sort, direction, after, limit }: Page<SQL>): SQL {
  const by = sql.raw(direction);
  const isAfter = after
    ? sql`(value, id) ${sql.raw(direction === "asc" ? ">" : "<")} (${after.value}, ${after.id})`
    : sql`true`;
  return sql`
    select * from (select *, ${sort} as value from (${rows})) where ${isAfter}
    order by value ${by}, id ${by} limit ${limit + 1}`;
}

/** Whole days. */
function usageOf(filter: UsageFilter): SQL {
  return sql`usage u where ${isIn(filter)}`;
}

/** The hours `e` of the days `u`. */
function hoursOf(filter: UsageFilter): SQL {
  const { fromSeconds, toSeconds } = filter;
  return sql`usage u cross join json_each(u.hours) e
    where ${isIn(filter)} and ${HOUR} >= ${fromSeconds} and ${HOUR} < ${toSeconds}`;
}

function isIn(filter: UsageFilter): SQL {
  const { key, owner, plan } = filter;
  const isOfAll = key === undefined && owner === undefined && plan === undefined;
  const keys = isOfAll ? sql`true` : sql`u.key_id in (select k.id from api_keys k where ${isOfKey(filter)})`;
  return sql`${isOnDays(filter)} and ${keys}`;
}

function isOnDays({ fromSeconds, toSeconds }: Range): SQL {
  return sql`u.day >= ${fromSeconds - (fromSeconds % DAY_SECONDS)} and u.day < ${toSeconds}`;
}

function isOfKey({ key, owner, plan }: UsageFilter): SQL {
  const conditions = [
    sql`true`,
    ...(key === undefined ? [] : [sql`k.id = ${key}`]),
    ...(owner === undefined ? [] : [sql`${OWNER_ID} = ${foldCase(owner)}`]),
    ...(plan === undefined ? [] : [sql`k.plan = ${plan}`]),
  ];
  return sql.join(conditions, sql` and `);
}
