/** D1: how close the owners of keys come to their limits of the day. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import type { CustomerSort } from "../../db/values.ts";
import {
  type Figures,
  OWNER,
  OWNER_ID,
  type Page,
  type Placed,
  type Range,
  selectPage,
} from "../usage/sql.ts";

/** Percentages are of the limits of each day; those of a day are of the owner's most used key. */
export type CustomerRow = Figures & {
  readonly owner: string | null;
  readonly ownerEmail: string | null;
  /** JSON: their ids. */
  readonly plans: string;
  readonly keyCount: number;
  readonly medianPercent: number;
  readonly peakPercent: number;
  /** Unix seconds. */
  readonly peakDay: number;
  readonly daysNear: number;
  readonly daysRefused: number;
  readonly bans: number;
};

export const NEAR_LIMIT_PERCENT = 80;

/** After the same number of days near the limit, the highest peak is first. */
const SORTED_BY: Readonly<Record<CustomerSort, SQL>> = {
  near: sql`daysNear * 1000 + min(peakPercent, 999)`,
  peak: sql`peakPercent`,
  admitted: sql`admitted`,
  refused: sql`refused`,
  name: sql`id`,
};

export async function listCustomers(
  db: Database,
  range: Range,
  days: number,
  { sort, ...page }: Page<CustomerSort>,
): Promise<Placed<CustomerRow>[]> {
  return db.all<Placed<CustomerRow>>(
    selectPage(customersOf(range, days), { ...page, sort: SORTED_BY[sort] }),
  );
}

/** `ranked`: an owner's days, the most used first. Of the median, days without usage are the last ones. */
function customersOf({ fromSeconds, toSeconds }: Range, days: number): SQL {
  const [lower, upper] = [Math.floor((days + 1) / 2), Math.floor(days / 2) + 1];
  return sql`
    with key_days as materialized (
      select u.key_id, u.day, u.admitted, u.refused, u.refused_while_banned as refusedWhileBanned,
        100.0 * u.admitted / u.limit_per_day as percent
      from usage u where u.day >= ${fromSeconds} and u.day < ${toSeconds}),
    owners as materialized (
      select ${OWNER_ID} as id, max(${OWNER}) as owner, min(k.owner_email) as ownerEmail, count(*) as keyCount,
        json_group_array(distinct k.plan order by k.plan) as plans
      from (select distinct key_id from key_days) d cross join api_keys k on k.id = d.key_id group by ${OWNER_ID}),
    owner_days as (
      select ${OWNER_ID} as id, d.day, sum(d.admitted) as admitted, sum(d.refused) as refused,
        sum(d.refusedWhileBanned) as refusedWhileBanned, max(d.percent) as percent
      from key_days d cross join api_keys k on k.id = d.key_id
      group by ${OWNER_ID}, d.day),
    ranked as (select *, row_number() over (partition by id order by percent desc, day) as rank from owner_days),
    banned as (
      select ${OWNER_ID} as id, count(*) as bans from bans b cross join api_keys k on k.id = b.key_id
      where b.started_at >= ${fromSeconds} and b.started_at < ${toSeconds} group by ${OWNER_ID})
    select o.id, o.owner, o.ownerEmail, o.keyCount, o.plans, sum(r.admitted) as admitted, sum(r.refused) as refused,
      sum(r.refusedWhileBanned) as refusedWhileBanned,
      round(sum((r.rank = ${lower}) * r.percent + (r.rank = ${upper}) * r.percent) / 2, 1) as medianPercent,
      round(max(r.percent), 1) as peakPercent, sum((r.rank = 1) * r.day) as peakDay,
      sum(r.percent >= ${NEAR_LIMIT_PERCENT}) as daysNear, sum(r.refused > 0) as daysRefused,
      coalesce(b.bans, 0) as bans
    from owners o join ranked r on r.id = o.id left join banned b on b.id = o.id group by o.id`;
}
