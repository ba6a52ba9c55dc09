/** Query and answer of `/admin/customers`. */
import * as v from "valibot";
import { CUSTOMER_PERIODS, CUSTOMER_SORTS } from "../../db/values.ts";
import { count, dateTime, next } from "../http/answer-schemas.ts";
import { oneOf } from "../http/schemas.ts";
import { asOf, figures, tableQuery } from "../usage/schema.ts";

export const customerQuery = v.strictObject({
  days: v.optional(oneOf(CUSTOMER_PERIODS), "30"),
  sort: v.optional(oneOf(CUSTOMER_SORTS), "near"),
  ...tableQuery,
});

const percent = v.pipe(
  v.number(),
  v.description("Of a day: that of the owner's most used key, of its limit in force now."),
);
const customer = v.strictObject({
  owner: v.nullable(v.string()),
  ownerEmail: v.nullable(v.string()),
  plans: v.array(v.string()),
  keyCount: v.pipe(count, v.description("Keys with requests in these days.")),
  ...figures,
  medianPercent: percent,
  peakPercent: percent,
  peakDay: v.pipe(v.string(), v.isoDate()),
  daysNear: v.pipe(count, v.description("Days on which a key used 80 % of its limit of the day, or more.")),
  daysRefused: v.pipe(count, v.description("Days with refusals by a limit.")),
  bans: count,
});
export type CustomerView = v.InferOutput<typeof customer>;

export const customerPage = v.strictObject({
  days: count,
  from: dateTime,
  to: dateTime,
  asOf,
  customers: v.array(customer),
  next,
});
