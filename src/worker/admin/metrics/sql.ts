/** D1: how many keys and live bans there are. */
import { sql } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { bans } from "../../db/schema.ts";
import { isLive } from "../bans/sql.ts";

type Count = { readonly label: string; readonly count: number };

/** Triggers count the stored statuses. Time and bans make other states of `active`. */
export async function countKeysByState(db: Database, nowSeconds: number): Promise<Count[]> {
  const isBanned = sql`k.id in (select key_id from ${bans} where ${isLive(nowSeconds)})`;
  const counts = await db.all<Count>(sql`
    select status as label, keys as count from key_counts
    union all select 'expired', count(*) from api_keys k where k.status = 'active' and k.expires_at <= ${nowSeconds}
    union all select 'banned', count(*) from api_keys k where k.status = 'active' and coalesce(k.expires_at > ${nowSeconds}, true) and ${isBanned}`);
  const of = (name: string) => counts.find(({ label }) => label === name)?.count ?? 0;
  const active = of("active") - of("expired") - of("banned");
  return counts.map((each) => (each.label === "active" ? { ...each, count: active } : each));
}

export async function countLiveBansByCause(db: Database, nowSeconds: number): Promise<Count[]> {
  return db.all<Count>(
    sql`select cause as label, count(*) as count from ${bans} where ${isLive(nowSeconds)} group by 1`,
  );
}

/** Of the customers with a limit of the day: the shares of it that their keys have used on this day. */
export async function listNearestCustomers(db: Database, day: number, most: number): Promise<Count[]> {
  return db.all<Count>(sql`
    select c.id as label, round(1.0 * sum(u.admitted) / c.requests_per_day, 4) as count
    from customers c join usage u on u.customer_id = c.id and u.day = ${day}
    where c.requests_per_day is not null group by c.id order by count desc, c.id limit ${most}`);
}
