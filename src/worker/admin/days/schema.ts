/** Query and answer of `/admin/keys/{id}/day` and `/admin/customers/{id}/day`. */
import * as v from "valibot";
import { dateTime, described } from "../http/answer-schemas.ts";
import { range } from "../http/schemas.ts";
import { answered, unreachable, usageTotal } from "../usage/schema.ts";

export const dayQuery = v.strictObject({
  at: described(
    range.from,
    "A day, or a time such as `yesterday 14:00`: then the hours around it. By default today.",
  ),
});

const dayEvent = v.strictObject({
  at: dateTime,
  until: described(v.nullable(dateTime), "When it ended or ends. Null: it was a moment."),
  kind: v.picklist(["refused", "ban", "change", "secret"]),
  keyId: described(v.nullable(v.string()), "Null: a change of the customer."),
  keyName: v.nullable(v.string()),
  says: v.string(),
});
export type DayEvent = v.InferOutput<typeof dayEvent>;

export const dayAnswer = v.strictObject({
  ...answered,
  total: v.strictObject(usageTotal),
  events: described(
    v.array(dayEvent),
    "In the order of time. Minutes in a row with the same refusals are one.",
  ),
  hasMore: described(v.boolean(), "Whether there were more bans or changes than these."),
  unreachable,
});
