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

function upsertUsage(db: Database, keyId: string, usage: DailyUsage) {
  const { day, admitted, refused, refusedWhileBanned } = usage;
  return db
    .insert(dailyUsage)
    .values({ day, keyId, admitted, refused, refusedWhileBanned })
    .onConflictDoUpdate({
      target: [dailyUsage.day, dailyUsage.keyId],
      set: {
        admitted: sql`max(${dailyUsage.admitted}, excluded.admitted)`,
        refused: sql`max(${dailyUsage.refused}, excluded.refused)`,
        refusedWhileBanned: sql`max(${dailyUsage.refusedWhileBanned}, excluded.refused_while_banned)`,
      },
    });
}
