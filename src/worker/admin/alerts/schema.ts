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
  attempts: count,
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

export const testAlert = v.strictObject({
  delivered: v.boolean(),
  status: v.nullable(count),
  error: v.nullable(v.string()),
});
