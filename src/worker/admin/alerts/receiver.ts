/** Whether the webhook's receiver accepts alerts, for the list, *Overview*, the metrics and the health. */
import { type DatabaseEnv, openDatabase } from "../../db/database.ts";
import { settingsOf } from "../../platform/settings.ts";
import { counted, formatTime } from "../../text/format.ts";
import { nowSeconds, rfc3339, rfc3339OrNull } from "../../text/time.ts";
import { receiverId } from "./deliver.ts";
import type { ReceiverView } from "./schema.ts";
import { type ReceiverRow, selectReceiver } from "./sql.ts";

/** Null: no webhook is configured. */
export async function receiverOf(env: DatabaseEnv): Promise<ReceiverView | null> {
  const { webhook } = settingsOf(env);
  if (webhook === undefined) return null;
  const row = await openDatabase(env.DB).get<ReceiverRow>(selectReceiver(await receiverId(webhook)));
  return viewOf(new URL(webhook.url).host, row, nowSeconds());
}

/** Returns when an alert is sent the next time. */
export function attemptAt(nextAttemptAt: number | null, receiver: ReceiverView | null): string | null {
  if (nextAttemptAt === null || receiver === null || receiver.state === "off") return null;
  const at = rfc3339(nextAttemptAt);
  return receiver.pausedUntil !== null && receiver.pausedUntil > at ? receiver.pausedUntil : at;
}

export function viewOf(host: string, row: ReceiverRow, now: number): ReceiverView {
  const { waiting, failing } = row;
  const known = {
    host,
    state: row.goneAt !== null ? "off" : row.failingSince !== null || failing > 0 ? "failing" : "ok",
    since: rfc3339OrNull(row.goneAt ?? row.failingSince),
    lastError: row.error,
    answeredAt: rfc3339OrNull(row.answeredAt),
    deliveredAt: rfc3339OrNull(row.deliveredAt),
    pausedUntil: row.pausedUntil !== null && row.pausedUntil > now ? rfc3339(row.pausedUntil) : null,
    waiting,
    failing,
  } as const;
  const view = { ...known, nextAttemptAt: null, says: "" };
  const nextAttemptAt = attemptAt(row.nextAttemptAt, view);
  return { ...view, nextAttemptAt, says: saysOf({ ...view, nextAttemptAt }) };
}

function saysOf({
  host,
  state,
  since,
  lastError,
  deliveredAt,
  pausedUntil,
  nextAttemptAt,
  ...counts
}: ReceiverView): string {
  const { waiting, failing } = counts;
  const waits = waiting === 0 ? "No alert waits." : `${counted(waiting, "alert waits", "alerts wait")}.`;
  const next = nextAttemptAt === null ? "" : ` The next attempt is on ${formatTime(nextAttemptAt)}.`;
  if (state === "off") {
    return `${host} answered 410 on ${time(since)}: it wants no more alerts, so none is sent. ${waits} Correct the receiver or its address, then send a test alert. If it is accepted, alerts are sent again.`;
  }
  const last = `${host} accepted the last alert on ${time(deliveredAt)}`;
  if (since !== null) {
    const none = deliveredAt === null ? `${host} has accepted no alert yet` : `${last}, and none since`;
    return `${none}: ${lastError}. ${waits}${next}`;
  }
  if (failing > 0) return `${host} did not accept ${counted(failing, "alert")}, but a later one.${next}`;
  if (deliveredAt === null) return `No alert was sent to ${host} yet.`;
  return pausedUntil === null || waiting === 0
    ? `${last}.`
    : `${last}, and gets one at a time. ${waits}${next}`;
}

function time(iso: string | null): string {
  return iso === null ? "" : formatTime(iso);
}
