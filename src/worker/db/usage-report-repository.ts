/** D1: what limiters report, each key's usage of a day and every ban for strikes. */
import { sql } from "drizzle-orm";
import type { Ban } from "../limiter/core/ban.ts";
import type { DailyUsage } from "../limiter/core/limiter-state.ts";
import { insertBan, toBanRow } from "./ban-repository.ts";
import type { Database } from "./database.ts";
import { dailyUsage } from "./schema.ts";

/** Writing a report twice changes nothing: a day's figures only grow, and a ban has one row. */
export async function writeUsageReport(
  db: Database,
  keyId: string,
  days: readonly DailyUsage[],
  newBans: readonly Ban[],
): Promise<void> {
  const statements = [
    ...days.map((usage) => upsertUsage(db, keyId, usage)),
    ...newBans.map((ban) => insertBan(db, toBanRow(keyId, ban))),
  ];
  const [first, ...rest] = statements;
  if (first) await db.batch([first, ...rest]);
}

/** By the limit that is effective now, at the report. */
const percentOfLimit = (keyId: string, admitted: number) => sql`(
  select round(100.0 * ${admitted} / nullif(per_day, 0), 1) from key_limits where key_id = ${keyId})`;

/** Each hour's figures only grow, as the day's do. */
const mergedHours = sql`(
  select json_group_array(json_array(hour, admitted, refused, banned) order by hour) from (
    select value ->> 0 as hour, max(value ->> 1) as admitted, max(value ->> 2) as refused, max(value ->> 3) as banned
    from (select value from json_each(daily_usage.hours) union all select value from json_each(excluded.hours))
    group by hour))`;

function upsertUsage(db: Database, keyId: string, usage: DailyUsage) {
  const { day, admitted, refused, refusedWhileBanned, hours } = usage;
  const percent = percentOfLimit(keyId, admitted);
  return db
    .insert(dailyUsage)
    .values({ day, keyId, admitted, refused, refusedWhileBanned, hours, percent })
    .onConflictDoUpdate({
      target: [dailyUsage.day, dailyUsage.keyId],
      set: {
        admitted: sql`max(${dailyUsage.admitted}, excluded.admitted)`,
        refused: sql`max(${dailyUsage.refused}, excluded.refused)`,
        refusedWhileBanned: sql`max(${dailyUsage.refusedWhileBanned}, excluded.refused_while_banned)`,
        hours: mergedHours,
        percent: sql`iif(excluded.admitted >= ${dailyUsage.admitted}, excluded.percent, ${dailyUsage.percent})`,
      },
    });
}
