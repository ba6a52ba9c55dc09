/** What the reference says of `/admin/alerts`. */
import { describe, type Reference } from "../http/describe.ts";
import { alertPage, testAlert } from "./schema.ts";

export const alertReference: Reference = {
  "GET /alerts": describe({
    id: "alerts.list",
    summary: "List alerts",
    description: "What the webhook was told or will be told, newest first, of the last 30 days.",
    answer: alertPage,
    example: {
      alerts: [
        {
          id: "ban_key_0C8yRw3mQz1T_1763721720000",
          type: "ban.started",
          keyId: "key_0C8yRw3mQz1T",
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
      configured: true,
    },
  }),
  "POST /alerts/test": describe({
    id: "alerts.test",
    summary: "Send a test alert",
    description: "At once, and once. The answer says what the webhook answered.",
    answer: testAlert,
    example: { delivered: true, status: 200, error: null },
    conflict: "No webhook is configured.",
  }),
};
