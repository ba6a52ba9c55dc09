/** D1: the alerts, which are the outbox of the webhook, and what its receiver answered (ADR-28). */
import { and, desc, getTableColumns, sql } from "drizzle-orm";
import { type Database, transact } from "../../db/database.ts";
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

/**
 * Claims alerts that are due, the newest first, so that a backlog does not delay an alert of now. No other
 * isolate claims them before the time of their next attempt. Claims none while the receiver is off or has
 * asked to wait.
 */
export async function claimDueAlerts(
  db: Database,
  address: string,
  nowSeconds: number,
  limit: number,
): Promise<DueAlert[]> {
  const waits = BACKOFF_SECONDS.map((seconds, attempts) => sql`when ${attempts} then ${seconds}`);
  const wait = sql`case attempts ${sql.join(waits, sql` `)} else ${BACKOFF_SECONDS.at(-1)} end`;
  return db.all<DueAlert>(sql`
    update alerts set attempts = attempts + 1, next_attempt_at = ${nowSeconds} + ${wait}
    where id in (select id from alerts where next_attempt_at <= ${nowSeconds} order by at desc, id limit ${limit})
      and not exists (select 1 from alert_receivers
        where address = ${address} and (gone_at is not null or paused_until > ${nowSeconds}))
    returning ${DUE_ALERT}`);
}

export async function findAlert(db: Database, id: string): Promise<DueAlert | undefined> {
  return db.get<DueAlert | undefined>(sql`select ${DUE_ALERT} from alerts where id = ${id}`);
}

export type Answer = {
  readonly answeredAt: number;
  /** Null: the receiver accepted the alert. */
  readonly error: string | null;
  readonly isGone: boolean;
  /** 0: the receiver did not ask to wait. */
  readonly pausedUntil: number;
};

/** Stores what the receiver answered to an alert. A test alert has no id, because it has no row. */
export async function noteAnswer(
  db: Database,
  address: string,
  id: string | undefined,
  answer: Answer,
): Promise<void> {
  const { answeredAt: now, error, isGone, pausedUntil } = answer;
  const isDelivered = error === null;
  const receiver = sql`
    insert into alert_receivers (address, answered_at, error, delivered_at, failing_since, paused_until, gone_at)
    values (${address}, ${now}, ${error}, ${isDelivered ? now : null}, ${isDelivered ? null : now}, ${pausedUntil}, ${isGone ? now : null})
    on conflict (address) do update set answered_at = excluded.answered_at, error = excluded.error,
      delivered_at = coalesce(excluded.delivered_at, delivered_at),
      failing_since = iif(excluded.error is null, null, coalesce(failing_since, excluded.failing_since)),
      paused_until = max(paused_until, excluded.paused_until),
      gone_at = iif(excluded.error is null, null, coalesce(gone_at, excluded.gone_at))`;
  const alert = isDelivered
    ? sql`update alerts set delivered_at = ${now}, next_attempt_at = null, last_error = null where id = ${id}`
    : // A later attempt may have delivered the alert meanwhile.
      sql`update alerts set last_error = ${error},
        next_attempt_at = iif(next_attempt_at > at + ${GIVE_UP_SECONDS}, null, next_attempt_at)
        where id = ${id} and delivered_at is null`;
  await transact<unknown[]>(db, id === undefined ? [receiver] : [receiver, alert]);
}

type ReceiverTime = "answeredAt" | "deliveredAt" | "failingSince" | "pausedUntil" | "goneAt";
export type ReceiverRow = { readonly [Name in ReceiverTime]: number | null } & {
  readonly error: string | null;
  /** Alerts with a next attempt, how many of them have failed, and the first of these attempts. */
  readonly waiting: number;
  readonly failing: number;
  readonly nextAttemptAt: number | null;
};

/** A receiver that was never called has no row of its own. */
export async function findReceiver(db: Database, address: string): Promise<ReceiverRow> {
  return db.get<ReceiverRow>(sql`
    select r.answered_at as answeredAt, r.error, r.delivered_at as deliveredAt, r.failing_since as failingSince,
      r.paused_until as pausedUntil, r.gone_at as goneAt, a.*
    from (select count(*) as waiting, count(last_error) as failing, min(next_attempt_at) as nextAttemptAt
      from alerts where next_attempt_at is not null) a
    left join alert_receivers r on r.address = ${address}`);
}

const { data: _, ...SHOWN } = getTableColumns(alerts);
const STATE = sql<AlertView["state"]>`case
  when ${alerts.deliveredAt} is not null then 'delivered'
  when ${alerts.nextAttemptAt} is null then 'failed'
  when ${alerts.lastError} is not null then 'failing'
  else 'pending' end`;

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
    .select({ ...SHOWN, keyName: sql<string | null>`${alerts.data} ->> 'keyName'`, state: STATE })
    .from(alerts)
    .where(and(ofState, isAfter))
    .orderBy(desc(alerts.at), desc(alerts.id))
    .limit(maxRows);
}
