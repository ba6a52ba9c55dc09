/** The calls about alerts: what the webhook was told, and a test alert. */
import { call } from "../call.ts";
import { columnsOf } from "../http/csv.ts";
import { alertPage, alertQuery, alertView, sentAlert } from "./schema.ts";
import { findAlerts, sendTestAlert } from "./service.ts";

export const alertCalls = {
  list: call({
    id: "alerts.list",
    route: "GET /alerts",
    summary: "List alerts",
    description: "What the webhook was told or will be told, newest first, of the last 30 days.",
    query: alertQuery,
    answer: alertPage,

    run: ({ env, query }) => findAlerts(env, query),
    table: ({ alerts, next }) => ({
      file: "alerts",
      columns: columnsOf(alertView),
      rows: alerts,
      next,
    }),
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
