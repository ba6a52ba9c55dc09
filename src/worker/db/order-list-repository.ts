/** D1: the list of orders as JSON text, at a revision of the change feed (ADR-6). Ids are decimal text or bigint (ADR-5). */
import { sql } from "drizzle-orm";
import type { Database } from "./database.ts";

/** A state of the list. `token` tells two revisions of the same number apart, after a restore of the database. */
export type Revision = { readonly number: number; readonly token: string };

/** JSON objects joined by commas; null for no order. */
export type OrdersJson = string | null;

export type Page = {
  readonly json: OrdersJson;
  /** Null on the last page. */
  readonly nextId: bigint | null;
};

/** At most 147 bytes an order: 1.5 MB, under D1's 2 MB for one string. */
export const MAX_ORDERS_PER_PAGE = 10_000;

export const MIN_ID = -(2n ** 63n);
export const MAX_ID = 2n ** 63n - 1n;

type RevisionRow = { revision: number; token: string };

/** The current revision. Reads one row. */
export async function readRevision(db: Database): Promise<Revision> {
  const row = await db.get<RevisionRow | undefined>(
    sql`select revision, token from order_changes order by revision desc limit 1`,
  );
  if (!row) throw new Error("order_changes has no row");
  return { number: row.revision, token: row.token };
}

type PageRow = {
  json: OrdersJson;
  count: number;
  lastId: string | null;
  readUpTo: string | null;
  isInFeed: number;
};

/**
 * Up to `limit` orders with ids from `fromId` on, as they were at the revision: what changed since is read from the
 * change feed. SQLite writes the JSON, so integers keep all digits and no order becomes a JavaScript object. It merges the
 * two ordered halves and stops at the limit. After more changes than the limit, the page also ends with the last of as
 * many orders of today, so that only changes up to there are grouped. Rejects when the feed no longer has all changes
 * since (a day later, or after the database was restored): the page would be wrong.
 */
export async function readPage(
  db: Database,
  revision: Revision,
  fromId: bigint,
  limit: number,
): Promise<Page> {
  const from = sql`cast(${String(fromId)} as integer)`;
  const end = sql`coalesce((select last_id from page), cast(${String(MAX_ID)} as integer))`;
  const row = await db.get<PageRow>(sql`
    with page as materialized (
      select case when (select max(revision) from order_changes) - ${revision.number} > ${limit}
        then (select id from orders where id >= ${from} order by id limit 1 offset ${limit - 1}) end as last_id
    ),
    changed as materialized (
      select order_id as id, min(revision) as revision from order_changes
      where revision > ${revision.number} and order_id between ${from} and ${end} group by order_id
    ),
    listed as (
      select id, json from order_json where id between ${from} and ${end} and id not in (select id from changed)
      union all
      select changed.id, json_before from changed join order_changes using (revision) where json_before is not null
      order by id limit ${limit}
    )
    select group_concat(json, ',') as json, count(*) as count, cast(max(id) as text) as lastId,
      (select cast(last_id as text) from page) as readUpTo,
      exists (select 1 from order_changes where revision = ${revision.number} and token = ${revision.token})
        or (select min(revision) from order_changes) = ${revision.number + 1} as isInFeed
    from listed`);
  if (!row.isInFeed) throw new Error(`the change feed does not reach back to revision ${revision.number}`);
  const lastId = row.count < limit ? row.readUpTo : row.lastId;
  const isLast = lastId === null || lastId === String(MAX_ID);
  return { json: row.json, nextId: isLast ? null : BigInt(lastId) + 1n };
}

/** A range of ids, both ends included. */
export type IdRange = readonly [from: bigint, to: bigint];

export type Refresh = {
  readonly revision: Revision;
  /** The orders of each range that changed, by the range's index. */
  readonly ranges: ReadonlyMap<number, OrdersJson>;
};

type RefreshRow = { range: number | null; json: OrdersJson; revision: number | null; token: string };

/**
 * Reads the ranges that changed since `base`, as of the current revision, in one statement. Undefined when that cannot be
 * told or would not pay: the feed no longer has `base`, or more than `maxChanges` orders changed since.
 */
export async function readChangedRanges(
  db: Database,
  base: Revision,
  ranges: readonly IdRange[],
  maxChanges: number,
): Promise<Refresh | undefined> {
  const rangesJson = `[${ranges.map(([from, to]) => `[${from},${to}]`).join(",")}]`;
  const [current, ...touched] = await db.all<RefreshRow>(sql`
    with base as (select 1 from order_changes where revision = ${base.number} and token = ${base.token}),
    changed as materialized (
      select distinct order_id as id from order_changes
      where revision > ${base.number} and exists (select 1 from base) limit ${maxChanges + 1}
    ),
    pays as (select 1 where exists (select 1 from base) and (select count(*) from changed) <= ${maxChanges}),
    range as materialized (select key as number, value ->> 0 as low, value ->> 1 as high from json_each(${rangesJson})),
    touched as materialized (
      select distinct number, low, high from pays cross join changed join range on changed.id between low and high
    )
    select null as range, null as json, case when exists (select 1 from pays) then revision end as revision, token
    from (select revision, token from order_changes order by revision desc limit 1)
    union all
    select number, (
      select group_concat(json, ',') from (select json from order_json where id between low and high order by id)
    ), null, '' from touched`);
  if (!current || current.revision === null) return undefined;
  return {
    revision: { number: current.revision, token: current.token },
    ranges: new Map(touched.map(({ range, json }) => [Number(range), json])),
  };
}
