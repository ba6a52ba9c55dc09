/** Sums a finished day of usage by key and fortnight. Runs every hour, and after an outage takes a day an hour. */
import { sql } from "drizzle-orm";
import { logError } from "../platform/log.ts";
import { DAY_SECONDS, HOUR_SECONDS, nowSeconds } from "../text/time.ts";
import { type DatabaseEnv, openDatabase, transact } from "./database.ts";

/** Most limiters have reported a day by then. What comes later, a trigger sums. */
const FINISHED_AFTER_SECONDS = DAY_SECONDS + 2 * HOUR_SECONDS;

export async function sumFinishedDay(env: DatabaseEnv): Promise<void> {
  const db = openDatabase(env.DB);
  const first = sql`select min(day) from usage where day >= (select day from key_fortnights_end)`;
  try {
    const { day } = await db.get<{ day: number | null }>(sql`select (${first}) as day`);
    if (day === null || day + FINISHED_AFTER_SECONDS > nowSeconds()) return;
    await transact(db, [
      sql`update key_fortnights_end set day = ${day + DAY_SECONDS} where day <= ${day}`,
      sql`insert into key_fortnights_anew select key_id, day from usage where day = ${day}`,
    ]);
  } catch (thrown) {
    logError("usage_not_summed", thrown);
  }
}
