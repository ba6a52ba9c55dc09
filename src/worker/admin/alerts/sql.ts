/** D1: the alerts, which are the outbox of the webhook, and what its receiver answered (ADR-28). */
import { type SQL, sql } from "drizzle-orm";
import { type Database, transact } from "../../db/database.ts";
import { DAY_SECONDS, HOUR_SECONDS } from "../../text/time.ts";
import type { Position } from "../http/cursor.ts";
import type { AlertView } from "./schema.ts";

/** The seconds from each attempt to the next. The last value is used again for all later attempts. */
const BACKOFF_SECONDS = [60, 300, 1_800, 7_200, 18_000, 36_000, 50_400] as const;
/** An alert of this age is given up at its next failure. */
const GIVE_UP_SECONDS = 3 * DAY_SECONDS;

/**
 * The alerts of a batch are sent at the same time, so that the batch ends before they are due again. An
 * invocation has six connections.
 */
export const ALERTS_PER_BATCH = 5;
export const TIMEOUT_SECONDS = 10;
/** After a pause that the receiver asked for, one alert is sent at a time, this long after the one before. */
export const SECONDS_BETWEEN = 1;
/** It is so until no alert was sent for this time. */
const ALONE_SECONDS = HOUR_SECONDS;

/** How an alert is sent: with others of its batch, with no other under way, or once by an operator. */
export type Attempt = "in a batch" | "alone" | "by hand";

/** `data` is JSON. */
export type DueAlert = Pick<AlertView, "id" | "type" | "keyId" | "text"> &
  Pick<AlertRow, "at"> & { readonly data: string };

/**
 * Claims alerts that are due, the newest first, so that a backlog does not delay an alert of now. No other
 * isolate claims them before the time of their next attempt. Claims none while the receiver is off or has
 * asked to wait. An alert that is sent alone makes a pause, which ends with its answer.
 */
export async function claimDueAlerts(
  db: Database,
  address: string,
  nowSeconds: number,
): Promise<{ readonly due: readonly DueAlert[]; readonly attempt: Attempt }> {
  const waits = BACKOFF_SECONDS.map((seconds, attempts) => sql`when ${attempts} then ${seconds}`);
  const wait = sql`case attempts ${sql.join(waits, sql` `)} else ${BACKOFF_SECONDS.at(-1)} end`;
  const isAlone = sql`address = ${address} and paused_until > ${nowSeconds - ALONE_SECONDS}`;
  const most = sql`iif(exists (select 1 from alert_receivers where ${isAlone}), 1, ${ALERTS_PER_BATCH})`;
  const [due, alone] = await transact<[DueAlert, unknown]>(db, [
    sql`update alerts set attempts = attempts + 1, next_attempt_at = ${nowSeconds} + ${wait}
      where id in (select id from alerts where next_attempt_at <= ${nowSeconds} order by at desc, id limit ${most})
        and not exists (select 1 from alert_receivers
          where address = ${address} and (gone_at is not null or paused_until > ${nowSeconds}))
      returning id, type, key_id as keyId, at, text, data`,
    sql`update alert_receivers set paused_until = ${nowSeconds + TIMEOUT_SECONDS + 1}
      where ${isAlone} and changes() > 0 returning 1`,
  ]);
  return { due, attempt: alone.length > 0 ? "alone" : "in a batch" };
}

export type ReceiverAnswer = {
  readonly answeredAt: number;
  /** Null: the receiver accepted the alert. */
  readonly error: string | null;
  readonly isGone: boolean;
  /** The receiver has refused the alert only because it came too soon. */
  readonly isBusy: boolean;
  /** 0: the receiver did not ask to wait. */
  readonly pausedUntil: number;
};

/**
 * Stores what the receiver answered to an alert, and returns until when nothing more is sent. A test alert has
 * no id, because it has no row. A receiver that is busy, and has accepted an alert within an hour, does not fail.
 */
export async function noteAnswer(
  db: Database,
  address: string,
  id: string | undefined,
  answer: ReceiverAnswer,
  attempt: Attempt,
): Promise<number> {
  const { answeredAt: now, error, isGone, isBusy, pausedUntil } = answer;
  const isDelivered = error === null;
  const failingSince = isBusy ? sql`iif(delivered_at > ${now - HOUR_SECONDS}, null, ${now})` : sql`${now}`;
  // Others were under way when the receiver asked to wait: only a person's attempt shows that it waits no more.
  const pause =
    attempt === "alone"
      ? sql`${Math.max(pausedUntil, now + SECONDS_BETWEEN)}`
      : attempt === "by hand" && isDelivered
        ? sql`min(paused_until, ${now})`
        : sql`max(paused_until, ${pausedUntil})`;
  const receiver = sql`
    insert into alert_receivers (address, answered_at, error, delivered_at, failing_since, paused_until, gone_at)
    values (${address}, ${now}, ${error}, ${isDelivered ? now : null}, ${isDelivered ? null : now}, ${pausedUntil}, ${isGone ? now : null})
    on conflict (address) do update set answered_at = excluded.answered_at, error = excluded.error,
      delivered_at = coalesce(excluded.delivered_at, delivered_at),
      failing_since = iif(excluded.error is null, null, coalesce(failing_since, ${failingSince})),
      paused_until = ${pause},
      gone_at = iif(excluded.error is null, null, coalesce(gone_at, excluded.gone_at))
    returning paused_until as pausedUntil`;
  const next = isBusy ? sql`${now}` : sql`next_attempt_at`; // the pause is the receiver's
  const isGivenUp = sql`${next} > at + ${GIVE_UP_SECONDS}`;
  const alert = isDelivered
    ? sql`update alerts set delivered_at = ${now}, next_attempt_at = null, last_error = null where id = ${id}`
    : // A later attempt may have delivered the alert meanwhile.
      sql`update alerts set last_error = iif(${isBusy} and not ${isGivenUp}, last_error, ${error}),
        attempts = attempts - ${isBusy}, next_attempt_at = iif(${isGivenUp}, null, ${next})
        where id = ${id} and delivered_at is null`;
  const statements = id === undefined ? [receiver] : [receiver, alert];
  const [[noted] = []] = await transact<{ pausedUntil: number }[]>(db, statements);
  return noted?.pausedUntil ?? 0;
}

type ReceiverTime = "answeredAt" | "deliveredAt" | "failingSince" | "pausedUntil" | "goneAt";
export type ReceiverRow = { readonly [Name in ReceiverTime]: number | null } & {
  readonly error: string | null;
  /** Alerts with a next attempt, how many of them have failed, and the first of these attempts. */
  readonly waiting: number;
  readonly failing: number;
  readonly nextAttemptAt: number | null;
};

/** Selects a `ReceiverRow`. A receiver that was never called has no row of its own. */
export function selectReceiver(address: string): SQL {
  return sql`
    select r.answered_at as answeredAt, r.error, r.delivered_at as deliveredAt, r.failing_since as failingSince,
      r.paused_until as pausedUntil, r.gone_at as goneAt, a.*
    from (select count(*) as waiting, count(last_error) as failing, min(next_attempt_at) as nextAttemptAt
      from alerts where next_attempt_at is not null) a
    left join alert_receivers r on r.address = ${address}`;
}

type AlertTime = "at" | "nextAttemptAt" | "deliveredAt";
export type AlertRow = Omit<AlertView, AlertTime> & { readonly at: number } & {
  readonly [Name in Exclude<AlertTime, "at">]: number | null;
};

/** Selects each `AlertRow`, the newest first. */
export function selectAlerts(
  state: AlertView["state"] | "all",
  after: Position | undefined,
  maxRows: number,
): SQL {
  return sql`
    select id, type, key_id as keyId, data ->> 'keyName' as keyName, data ->> '$.customer.id' as customerId, at, text, attempts,
      next_attempt_at as nextAttemptAt, delivered_at as deliveredAt, last_error as lastError, case
        when delivered_at is not null then 'delivered'
        when next_attempt_at is null then 'failed'
        when last_error is not null then 'failing'
        else 'pending' end as state
    from alerts where ${state === "all" ? sql`true` : sql`state = ${state}`}
      and ${after ? sql`(at, id) < (${after.value}, ${after.id})` : sql`true`}
    order by at desc, id desc limit ${maxRows}`;
}
