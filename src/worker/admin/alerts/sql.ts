/** D1: the alerts, which are the outbox of the webhook (ADR-28). */
import { and, desc, getTableColumns, sql } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { alerts } from "../../db/schema.ts";
import { DAY_SECONDS } from "../../text/time.ts";
import type { Position } from "../http/cursor.ts";
import type { AlertView } from "./schema.ts";

/** The seconds from each attempt to the next. The last value is used again for all later attempts. */
const BACKOFF_SECONDS = [60, 300, 1_800, 7_200, 18_000, 36_000, 50_400] as const;
/** An alert of this age is given up at its next failure. */
const GIVE_UP_SECONDS = 3 * DAY_SECONDS;

export type DueAlert = Pick<typeof alerts.$inferSelect, "id" | "type" | "keyId" | "at" | "text" | "data">;

const DUE_ALERT = sql`id, type, key_id as keyId, at, text, data`;

/** Claims alerts that are due. No other isolate claims them before the time of their next attempt. */
export async function claimDueAlerts(db: Database, nowSeconds: number, limit: number): Promise<DueAlert[]> {
  const waits = BACKOFF_SECONDS.map((seconds, attempts) => sql`when ${attempts} then ${seconds}`);
  const wait = sql`case attempts ${sql.join(waits, sql` `)} else ${BACKOFF_SECONDS.at(-1)} end`;
  return db.all<DueAlert>(sql`
    update alerts set attempts = attempts + 1, next_attempt_at = ${nowSeconds} + ${wait}
    where id in (select id from alerts where next_attempt_at <= ${nowSeconds} order by next_attempt_at limit ${limit})
    returning ${DUE_ALERT}`);
}

/** Counts an attempt that an operator makes, and returns the alert. */
export async function countAttempt(db: Database, id: string): Promise<DueAlert | undefined> {
  return db.get<DueAlert | undefined>(
    sql`update alerts set attempts = attempts + 1 where id = ${id} returning ${DUE_ALERT}`,
  );
}

export async function markDelivered(db: Database, id: string, nowSeconds: number): Promise<void> {
  await db.run(sql`
    update alerts set delivered_at = ${nowSeconds}, next_attempt_at = null, last_error = null where id = ${id}`);
}

/** Leaves an alert as it is if a later attempt has delivered it meanwhile. */
export async function markNotDelivered(db: Database, id: string, error: string): Promise<void> {
  await db.run(sql`
    update alerts set last_error = ${error}, next_attempt_at = iif(next_attempt_at > at + ${GIVE_UP_SECONDS}, null, next_attempt_at)
    where id = ${id} and delivered_at is null`);
}

const { data: _, ...SHOWN } = getTableColumns(alerts);
const STATE = sql<AlertView["state"]>`case
  when ${alerts.deliveredAt} is not null then 'delivered'
  when ${alerts.nextAttemptAt} is not null then 'pending'
  else 'failed' end`;

/** Lists alerts, the newest first. */
export async function listAlerts(
  db: Database,
  state: AlertView["state"] | "all",
  after: Position | undefined,
  maxRows: number,
) {
  const ofState = state === "all" ? undefined : sql`${STATE} = ${state}`;
  const isAfter = after && sql`(${alerts.at}, ${alerts.id}) < (${after.value}, ${after.id})`;
  return db
    .select({ ...SHOWN, state: STATE })
    .from(alerts)
    .where(and(ofState, isAfter))
    .orderBy(desc(alerts.at), desc(alerts.id))
    .limit(maxRows);
}
