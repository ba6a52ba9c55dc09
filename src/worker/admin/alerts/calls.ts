/** The calls about alerts: what the webhook was told, an alert that is sent again, and a test alert. */
import { call } from "../call.ts";
import { columnsOf } from "../http/csv.ts";
import { alertPage, alertQuery, alertView, sentAlert } from "./schema.ts";
import { findAlerts, sendAgain, sendTestAlert } from "./service.ts";

const SENT = {
  ...{ at: "2026-11-21T10:42:01Z", delivered: true, status: 200, error: null },
  says: "The receiver accepted the alert: status 200.",
};

export const alertCalls = {
  list: call({
    id: "alerts.list",
    route: "GET /alerts",
    summary: "List alerts",
    description: "What the webhook was told or will be told, newest first, of the last 30 days.",
    query: alertQuery,
    answer: alertPage,
    example: {
      answer: {
        alerts: [
          {
            id: "ban_key_0C8yRw3mQz1T_1763721720000",
            type: "ban.started",
            keyId: "key_0C8yRw3mQz1T",
            keyName: "Backend of Pet Shop",
            at: "2026-11-21T10:42:00Z",
            text: "Key Backend of Pet Shop (Pet Shop) is banned until 10:47 UTC.",
            state: "delivered",
            attempts: 1,
            nextAttemptAt: null,
            deliveredAt: "2026-11-21T10:42:01Z",
            lastError: null,
          },
        ],
        next: null,
        receiver: {
          host: "hooks.example.com",
          state: "ok",
          says: "hooks.example.com accepted the last alert on 21 Nov 2026, 10:42 UTC.",
          since: null,
          lastError: null,
          answeredAt: "2026-11-21T10:42:01Z",
          deliveredAt: "2026-11-21T10:42:01Z",
          pausedUntil: null,
          nextAttemptAt: null,
          waiting: 0,
          failing: 0,
        },
      },
    },

    run: ({ env, query }) => findAlerts(env, query),
    table: ({ alerts, next }) => ({
      file: "alerts",
      columns: columnsOf(alertView),
      rows: alerts,
      next,
    }),
  }),

  resend: call({
    id: "alerts.resend",
    route: "POST /alerts/:alertId/resend",
    summary: "Send an alert again",
    description:
      "At once, and once, whatever its state. `webhook-id` is the same as before, so that a receiver can drop an alert that it has. A failure leaves the time of the next attempt as it is. A receiver that accepts it gets the others again, too.",
    answer: sentAlert,
    example: { answer: SENT },
    conflict: "No webhook is configured.",

    run: ({ env, id }) => sendAgain(env, id),
  }),

  test: call({
    id: "alerts.test",
    route: "POST /alerts/test",
    summary: "Send a test alert",
    description:
      "At once, and once. The answer says what the receiver answered. A receiver that was off, because it answered 410, or asked to wait, gets alerts again if it accepts the test alert.",
    answer: sentAlert,
    example: { answer: SENT },
    conflict: "No webhook is configured.",

    run: ({ env, author }) => sendTestAlert(env, author.actor),
  }),
};
