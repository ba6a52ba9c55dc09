/** The calls about alerts: what the webhook was told, and a test alert. */
import type * as v from "valibot";
import type { Bindings } from "../../context.ts";
import { openDatabase, transact } from "../../db/database.ts";
import { insertExpiryAlerts } from "../../key/alerts.ts";
import { conflict } from "../../platform/errors.ts";
import { logError } from "../../platform/log.ts";
import { settingsOf } from "../../platform/settings.ts";
import { nowSeconds, rfc3339, rfc3339OrNull } from "../../text/time.ts";
import { call } from "../call.ts";
import { tableOf } from "../http/csv.ts";
import { fromCursor, pageOf, toCursor } from "../http/cursor.ts";
import { deliverTest, receiverId } from "./deliver.ts";
import { attemptAt, viewOf } from "./receiver.ts";
import { alertPage, alertQuery, alertView, type SentAlert, sentAlert } from "./schema.ts";
import { type AlertRow, type ReceiverRow, selectAlerts, selectReceiver } from "./sql.ts";

export const alertCalls = {
  list: call({
    id: "alerts.list",
    route: "GET /alerts",
    summary: "List alerts",
    description: "What the webhook was told or will be told, newest first, of the last 30 days.",
    query: alertQuery,
    answer: alertPage,

    run: ({ env, query }) => findAlerts(env, query),
    table: tableOf("alerts", alertView),
  }),

  test: call({
    id: "alerts.test",
    route: "POST /alerts/test",
    summary: "Send a test alert",
    description:
      "At once, and once. The answer says what the receiver answered. A receiver that was off, because it answered 410, or asked to wait, gets alerts again if it accepts the test alert.",
    answer: sentAlert,
    conflict: "No webhook is configured.",

    run: ({ env, author }) => sendTestAlert(env, author.actor),
  }),
};

/** Stores the alerts of keys that expire soon. Runs every hour. */
export async function alertOfExpiries(env: Bindings): Promise<void> {
  if (settingsOf(env).webhook === undefined) return;
  try {
    await openDatabase(env.DB).run(insertExpiryAlerts(nowSeconds()));
  } catch (thrown) {
    logError("expiry_alerts_not_stored", thrown);
  }
}

async function findAlerts(
  env: Bindings,
  { state, after, limit }: v.InferOutput<typeof alertQuery>,
): Promise<v.InferOutput<typeof alertPage>> {
  const { webhook } = settingsOf(env);
  const [rows, [row]] = await transact<[AlertRow, ReceiverRow]>(openDatabase(env.DB), [
    selectAlerts(state, fromCursor("alerts", after), limit + 1),
    selectReceiver(webhook === undefined ? "" : await receiverId(webhook)),
  ]);
  const receiver = webhook && row ? viewOf(new URL(webhook.url).host, row, nowSeconds()) : null;
  const { shown, last } = pageOf(rows, limit);
  return {
    alerts: shown.map((row) => ({
      ...row,
      at: rfc3339(row.at),
      nextAttemptAt: attemptAt(row.nextAttemptAt, receiver),
      deliveredAt: rfc3339OrNull(row.deliveredAt),
    })),
    next: toCursor("alerts", last && { value: last.at, id: last.id }),
    receiver,
  };
}

/** Sends a test alert now. */
async function sendTestAlert(env: Bindings, actor: string): Promise<SentAlert> {
  const { webhook } = settingsOf(env);
  if (webhook === undefined)
    throw conflict("No webhook is configured: set the secrets ALERT_WEBHOOK_URL and ALERT_WEBHOOK_SECRET.");
  const { sent } = await deliverTest(openDatabase(env.DB), webhook, actor);
  const { status, error } = sent;
  const says =
    error === null
      ? `The receiver accepted the alert: status ${status}.`
      : `The receiver did not accept the alert: ${error}.`;
  return { ...sent, says };
}
