/** Queries and answers of `/admin/alerts`. */
import * as v from "valibot";
import { ALERT_STATES, STORED_ALERT_TYPES } from "../../db/values.ts";
import { count, dateTime, next } from "../http/answer-schemas.ts";
import { format, oneOf, pageSize } from "../http/schemas.ts";

export const alertQuery = v.strictObject({
  state: v.optional(oneOf([...ALERT_STATES, "all"]), "all"),
  after: v.optional(v.string()),
  limit: pageSize,
  format,
});

export const alertView = v.strictObject({
  id: v.pipe(v.string(), v.description("The header `webhook-id` of each attempt.")),
  type: v.picklist(STORED_ALERT_TYPES),
  keyId: v.string(),
  at: dateTime,
  text: v.string(),
  state: v.pipe(v.picklist(ALERT_STATES), v.description("`failed`: given up after three days.")),
  attempts: v.pipe(count, v.description("How often the alert was sent, by hand too.")),
  nextAttemptAt: v.nullable(dateTime),
  deliveredAt: v.nullable(dateTime),
  lastError: v.nullable(v.string()),
});
export type AlertView = v.InferOutput<typeof alertView>;

export const alertPage = v.strictObject({
  alerts: v.array(alertView),
  next,
  configured: v.pipe(v.boolean(), v.description("Whether a webhook is configured.")),
});

export const sentAlert = v.strictObject({
  delivered: v.boolean(),
  status: v.pipe(
    v.nullable(count),
    v.description("The status of the webhook's answer. Null: no answer came."),
  ),
  error: v.pipe(v.nullable(v.string()), v.description("Why it was not delivered.")),
});
