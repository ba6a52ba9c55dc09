/** D1: sums of the usage that limiters report, one row for each key and UTC hour (ADR-22). */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { limitsAt } from "../../db/limits-sql.ts";
import type { UsageGroup, UsageSort } from "../../db/values.ts";
import { foldCase } from "../../text.ts";
import { nowSeconds } from "../../time.ts";
import type { Position } from "../http/cursor.ts";

export type Figures = {
  readonly admitted: number;
  readonly refused: number;
  readonly refusedWhileBanned: number;
};

/** Unix seconds of whole hours. `toSeconds` is not included. */
export type Range = { readonly fromSeconds: number; readonly toSeconds: number };

export type UsageFilter = Range & {
  readonly key?: string | undefined;
  /** The owner's name, or the e-mail address of an owner without a name; in any case. */
  readonly owner?: string | undefined;
  readonly plan?: string | undefined;
};

/** `hour` is when the hour begins, in Unix seconds. */
export type HourRow = Figures & {
  readonly hour: number;
  /** JSON: for each minute with refusals, by what and how many. */
  readonly refusedMinutes: string | null;
};

export async function listHoursOfKey(db: Database, keyId: string, range: Range): Promise<HourRow[]> {
  return db.all<HourRow>(sql`
    select hour, admitted, refused, refused_while_banned as refusedWhileBanned, refused_minutes as refusedMinutes
    from usage where key_id = ${keyId} and hour >= ${range.fromSeconds} and hour < ${range.toSeconds} order by hour`);
}

/** The whole seconds since the epoch are a multiple of `seconds`. */
export type Bucket = Figures & { readonly start: number };

/** Only the buckets that have usage, oldest first. */
export async function listBuckets(db: Database, filter: UsageFilter, seconds: number): Promise<Bucket[]> {
  return db.all<Bucket>(sql`
    select ${bucketStart(seconds)} as start, ${SUMS} from ${usageOf(filter)} group by start order by start`);
}

/** When the bucket of the usage `u` begins. Not a division: D1 binds a number as a float. */
export function bucketStart(seconds: number): SQL {
  return sql`u.hour - u.hour % ${seconds}`;
}

export type Total = Figures & { readonly keyCount: number };

export function selectTotal(filter: UsageFilter): SQL {
  return sql`select count(distinct u.key_id) as keyCount, ${SUMS} from ${usageOf(filter)}`;
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

const KEY_COUNT = sql`count(distinct k.id) as keyCount`;
export const OWNER = sql`coalesce(k.owner_name, k.owner_email)`;
export const OWNER_ID = sql`k.owner_key`;
const SUMS = sql`coalesce(sum(u.admitted), 0) as admitted, coalesce(sum(u.refused), 0) as refused,
  coalesce(sum(u.refused_while_banned), 0) as refusedWhileBanned`;

const GROUPS: Readonly<Record<UsageGroup, (days: number) => { id: SQL; name: SQL; columns: SQL }>> = {
  key: (days) => {
    const { perMinute, perDay } = limitsAt(nowSeconds());
    return {
      id: sql`k.id`,
      name: sql`k.name`,
      columns: sql`k.name as keyName, k.owner_name as ownerName, k.owner_email as ownerEmail, k.plan,
        ${perMinute} as perMinute, ${perDay} as perDay,
        round(100.0 * sum(u.admitted) / max(1, ${perDay} * ${days}), 1) as percent`,
    };
  },
  owner: () => ({ id: OWNER_ID, name: OWNER_ID, columns: sql`max(${OWNER}) as owner, ${KEY_COUNT}` }),
  plan: () => ({ id: sql`k.plan`, name: sql`k.plan`, columns: sql`k.plan, ${KEY_COUNT}` }),
};

/** One row more than the page has, if there are more. `days` are the days of the range that have begun. */
export function selectGroups(
  group: UsageGroup,
  filter: UsageFilter,
  { sort, ...page }: Page<UsageSort>,
  days: number,
): SQL {
  const { id, name, columns } = GROUPS[group](days);
  const rows = sql`
    select ${id} as id, ${name} as name, ${columns}, ${SUMS} from ${usageOf(filter, true)} group by ${id}`;
  return selectPage(rows, { ...page, sort: sql.raw(sort) });
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

/** `cross join` fixes the order of the tables: an owner has few keys, and few of all keys have usage. */
function usageOf({ fromSeconds, toSeconds, key, owner, plan }: UsageFilter, isNamed = false): SQL {
  const tables =
    owner !== undefined
      ? sql`api_keys k cross join plans p on p.id = k.plan cross join usage u on u.key_id = k.id`
      : isNamed || plan !== undefined
        ? sql`usage u cross join api_keys k on k.id = u.key_id cross join plans p on p.id = k.plan`
        : sql`usage u`;
  const conditions = [
    sql`u.hour >= ${fromSeconds} and u.hour < ${toSeconds}`,
    ...(key === undefined ? [] : [sql`u.key_id = ${key}`]),
    ...(owner === undefined ? [] : [sql`${OWNER_ID} = ${foldCase(owner)}`]),
    ...(plan === undefined ? [] : [sql`k.plan = ${plan}`]),
  ];
  return sql`${tables} where ${sql.join(conditions, sql` and `)}`;
}
