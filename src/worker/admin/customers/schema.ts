/** Bodies, queries and answers of `/admin/customers`. */
import * as v from "valibot";
import { CUSTOMER_SORTS, PLAN_IDS } from "../../db/values.ts";
import { isCustomerId } from "../../key/key.ts";
import {
  count,
  dateTime,
  described,
  effective,
  limitOrNull,
  liveWindow,
  next,
  says,
  shownCustomer,
  version,
} from "../http/answer-schemas.ts";
import { type CsvTable, columnsOf } from "../http/csv.ts";
import { format, limitsOf, MAX_PAGE_SIZE, oneOf, paging, queryNumber, range } from "../http/schemas.ts";
import { longText, mailAddress, shortText, soughtText } from "../http/text-schemas.ts";
import { answered, keyUsage, timeUsage, unreachable, usageOfKeys, usageTotal } from "../usage/schema.ts";

const name = v.pipe(
  shortText(100),
  v.check((text) => !isCustomerId(text), "must not look like the id of a customer"),
  v.description("In any case, no other customer has this name."),
);
const email = v.optional(v.pipe(v.nullable(v.pipe(mailAddress, v.metadata({ kind: "email" })))));
const note = v.optional(v.nullable(longText(1_000)));

const ofAllKeys = limitsOf(
  (window) => `Requests of all keys together that are admitted in a UTC ${window}. Null: no such limit.`,
);
const common = { email, note, ...ofAllKeys };

export const newCustomer = v.strictObject({ name, ...common });
export const customerUpdate = v.strictObject({ name: v.optional(name), ...common });
export type CustomerUpdate = v.InferOutput<typeof customerUpdate>;

export const merger = v.strictObject({
  into: described(shortText(254), "The customer that gets all keys and use: an id, or a name in any case."),
});

export const customerQuery = v.strictObject({
  search: v.optional(described(soughtText, "A part of the name, the e-mail address or the note, or the id.")),
  customer: v.optional(described(soughtText, "Only this customer: an id, or a name in any case.")),
  ...range,
  plan: v.optional(described(oneOf(PLAN_IDS), "Only use under this plan.")),
  sort: v.optional(oneOf(CUSTOMER_SORTS), "name"),
  direction: v.optional(
    described(oneOf(["asc", "desc"]), "Names from A on by default, and figures from the highest."),
  ),
  ...paging,
  format,
});

export const customerView = v.strictObject({
  ...shownCustomer.entries,
  note: v.nullable(v.string()),
  requestsPerMinute: described(limitOrNull, "Of all keys together. Null: no such limit."),
  requestsPerDay: described(limitOrNull, "Of all keys together. Null: no such limit."),
  createdAt: dateTime,
  erasedAt: described(v.nullable(dateTime), "Null: the customer is not erased."),
  keys: described(count, "How many keys the customer has, without revoked ones."),
  version,
});
export type CustomerView = v.InferOutput<typeof customerView>;

export const inspectedCustomer = v.strictObject({
  ...customerView.entries,
  live: described(
    v.nullable(v.strictObject({ minute: v.nullable(liveWindow), day: v.nullable(liveWindow) })),
    "The windows of the limits at this moment. Null: there is no limit, or its limiter could not be reached.",
  ),
});
export type InspectedCustomer = v.InferOutput<typeof inspectedCustomer>;

export const listedCustomer = v.strictObject({
  ...customerView.entries,
  usage: described(usageOfKeys, "The use of the range, on the days on which the keys were the customer's."),
});
export type ListedCustomer = v.InferOutput<typeof listedCustomer>;

export const customerPage = v.strictObject({
  ...answered,
  customers: v.array(listedCustomer),
  next,
  unreachable,
});
export const changedCustomer = v.strictObject({ ...customerView.entries, says });
/** Limiters have been told. */
export const updatedCustomer = v.strictObject({ ...changedCustomer.entries, effective });
export const merged = v.strictObject({ into: customerView, effective, says });

export const reportQuery = v.strictObject({
  month: v.optional(
    described(
      v.pipe(
        v.string(),
        v.regex(/^[12]\d{3}-(0[1-9]|1[0-2])$/, "must be a month, as in 2026-10"),
        v.check((month) => Date.parse(month) <= Date.now(), "must not lie in the future"),
      ),
      "A month (UTC), as in `2026-10`. By default the last one.",
    ),
  ),
  ...paging,
  limit: v.optional(queryNumber(1, MAX_PAGE_SIZE), String(MAX_PAGE_SIZE)),
  format,
});
const reportKey = v.strictObject({ month: v.string(), ...keyUsage.entries, customer: shownCustomer });
export const reportAnswer = v.strictObject({
  customer: shownCustomer,
  month: v.string(),
  ...answered,
  total: v.strictObject(usageTotal),
  before: described(
    v.nullable(v.strictObject(usageTotal)),
    "The whole month before. Null: usage begins later, or is deleted.",
  ),
  keys: described(v.array(reportKey), "The keys in use, the most requests first."),
  days: v.array(
    v.strictObject({
      ...timeUsage.entries,
      before: described(count, "Admitted on the same day of the month before."),
    }),
  ),
  keyCount: count,
  next,
  unreachable,
});

/** The file has the customer and the month in its name, of ASCII letters and digits only, and in each row. */
export function reportTable({ customer, month, keys, next }: v.InferOutput<typeof reportAnswer>): CsvTable {
  const name = customer.name.normalize("NFKD").toLowerCase().replace(/\p{M}/gu, "");
  const words = name.replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || customer.id;
  return { file: `usage-${words}-${month}`, columns: columnsOf(reportKey), rows: keys, next };
}
