/** Queries and answers of `/admin/alerts`. */
import * as v from "valibot";
import { ALERT_STATES, RECEIVER_STATES, STORED_ALERT_TYPES } from "../../db/values.ts";
import { count, dateTime, described, next, says } from "../http/answer-schemas.ts";
import { format, oneOf, paging } from "../http/schemas.ts";

export const alertQuery = v.strictObject({
  state: v.optional(oneOf([...ALERT_STATES, "all"]), "all"),
  ...paging,
  format,
});

export const alertView = v.strictObject({
  id: described(v.string(), "The header `webhook-id` of each attempt."),
  type: v.picklist(STORED_ALERT_TYPES),
  keyId: described(v.nullable(v.string()), "Null: the alert is of a customer."),
  keyName: described(v.nullable(v.string()), "The key's name when the alert was stored."),
  customerId: described(v.nullable(v.string()), "The customer then. Null: the key had none."),
  at: dateTime,
  text: v.string(),
  state: described(
    v.picklist(ALERT_STATES),
    "`failing`: not accepted so far, and sent again. `failed`: given up after three days.",
  ),
  attempts: described(count, "How often the alert was sent, not if it only came too soon."),
  nextAttemptAt: v.nullable(dateTime),
  deliveredAt: v.nullable(dateTime),
  lastError: v.nullable(v.string()),
});
export type AlertView = v.InferOutput<typeof alertView>;

export const receiverView = v.strictObject({
  host: v.string(),
  state: described(
    v.picklist(RECEIVER_STATES),
    "`failing`: the last attempt failed, or alerts are sent again. `off`: the receiver answered 410, and nothing is sent until it accepts a test alert.",
  ),
  says: described(v.string(), "The state as a sentence."),
  since: described(v.nullable(dateTime), "Since when it fails or is off."),
  lastError: described(v.nullable(v.string()), "Null: the last attempt was accepted."),
  answeredAt: described(v.nullable(dateTime), "The last attempt, of a test alert, too."),
  deliveredAt: described(v.nullable(dateTime), "The last attempt that was accepted."),
  pausedUntil: described(
    v.nullable(dateTime),
    "Nothing is sent before then: it has asked with `Retry-After` to wait, and gets one alert at a time since.",
  ),
  nextAttemptAt: v.nullable(dateTime),
  waiting: described(count, "Alerts that were not delivered yet."),
  failing: described(count, "Those of them that were sent at least once."),
});
export type ReceiverView = v.InferOutput<typeof receiverView>;

export const alertPage = v.strictObject({
  alerts: v.array(alertView),
  next,
  receiver: described(v.nullable(receiverView), "Null: no webhook is configured."),
});

export const sentAlert = v.strictObject({
  at: dateTime,
  delivered: v.boolean(),
  status: described(v.nullable(count), "The status of the webhook's answer. Null: no answer came."),
  error: described(v.nullable(v.string()), "Why it was not delivered."),
  says,
});
export type SentAlert = v.InferOutput<typeof sentAlert>;
