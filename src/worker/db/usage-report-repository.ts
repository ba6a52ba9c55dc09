/** D1: what outlives a limiter, each key's use of a day and every ban. Limiters write it; the operator reads it. */
import { sql } from "drizzle-orm";
import type { Ban } from "../limiter/core/ban.ts";
import type { DailyUsage } from "../limiter/core/limiter-state.ts";
import type { Database } from "./database.ts";
import { bans, dailyUsage } from "./schema.ts";

/** Telling the history twice changes nothing: a day's figures only grow, and a ban has one row. */
export async function report(
  db: Database,
  keyId: string,
  days: readonly DailyUsage[],
  begun: readonly Ban[],
): Promise<void> {
  const statements = [
    ...days.map((use) => upsertUse(db, keyId, use)),
    ...begun.map((ban) => db.insert(bans).values(toBanRow(keyId, ban)).onConflictDoNothing()),
  ];
  const [first, ...rest] = statements;
  if (first) await db.batch([first, ...rest]);
}

function upsertUse(db: Database, keyId: string, use: DailyUsage) {
  const { day, admitted, refused, refusedWhileBanned } = use;
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

export function toBanRow(keyId: string, ban: Ban): typeof bans.$inferInsert {
  return {
    id: ban.id,
    keyId,
    cause: ban.cause,
    reason: ban.reason,
    strikes: ban.strikes,
    startedAt: Math.floor(ban.startedAtMs / 1000),
    endsAt: ban.endsAtMs / 1000,
  };
}
