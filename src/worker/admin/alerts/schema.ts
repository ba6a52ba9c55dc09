/** Queries and answers of `/admin/alerts`. */
import * as v from "valibot";
import { ALERT_STATES, RECEIVER_STATES, STORED_ALERT_TYPES } from "../../db/values.ts";
import { count, dateTime, next } from "../http/answer-schemas.ts";
import { format, oneOf, paging } from "../http/schemas.ts";

export const alertQuery = v.strictObject({
  state: v.optional(oneOf([...ALERT_STATES, "all"]), "all"),
  ...paging,
  format,
});

export const alertView = v.strictObject({
  id: v.pipe(v.string(), v.description("The header `webhook-id` of each attempt.")),
  type: v.picklist(STORED_ALERT_TYPES),
  keyId: v.string(),
  keyName: v.pipe(v.nullable(v.string()), v.description("The key's name when the alert was stored.")),
  at: dateTime,
  text: v.string(),
  state: v.pipe(
    v.picklist(ALERT_STATES),
    v.description("`failing`: not accepted so far, and sent again. `failed`: given up after three days."),
  ),
  attempts: v.pipe(count, v.description("How often the alert was sent, not counting by hand.")),
  nextAttemptAt: v.nullable(dateTime),
  deliveredAt: v.nullable(dateTime),
  lastError: v.nullable(v.string()),
});
export type AlertView = v.InferOutput<typeof alertView>;

export const receiverView = v.strictObject({
  host: v.string(),
  state: v.pipe(
    v.picklist(RECEIVER_STATES),
    v.description(
      "`failing`: the last attempt failed, or alerts are sent again. `off`: the receiver answered 410, and nothing is sent until it accepts a test alert.",
    ),
  ),
  says: v.pipe(v.string(), v.description("The state as a sentence.")),
  since: v.pipe(v.nullable(dateTime), v.description("Since when it fails or is off.")),
  lastError: v.pipe(v.nullable(v.string()), v.description("Null: the last attempt was accepted.")),
  answeredAt: v.pipe(v.nullable(dateTime), v.description("The last attempt, by hand too.")),
  deliveredAt: v.pipe(v.nullable(dateTime), v.description("The last attempt that was accepted.")),
  pausedUntil: v.pipe(v.nullable(dateTime), v.description("It asked with `Retry-After` to wait until then.")),
  nextAttemptAt: v.nullable(dateTime),
  waiting: v.pipe(count, v.description("Alerts that were not delivered yet.")),
  failing: v.pipe(count, v.description("Those of them that were sent at least once.")),
});
export type ReceiverView = v.InferOutput<typeof receiverView>;

export const alertPage = v.strictObject({
  alerts: v.array(alertView),
  next,
  receiver: v.pipe(v.nullable(receiverView), v.description("Null: no webhook is configured.")),
});

export const sentAlert = v.strictObject({
  at: dateTime,
  delivered: v.boolean(),
  status: v.pipe(
    v.nullable(count),
    v.description("The status of the webhook's answer. Null: no answer came."),
  ),
  error: v.pipe(v.nullable(v.string()), v.description("Why it was not delivered.")),
});
