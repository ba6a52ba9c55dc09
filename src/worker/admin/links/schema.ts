/** Bodies and answers of `/admin/links`. */
import * as v from "valibot";
import { dateTime, described, says, shownCustomer } from "../http/answer-schemas.ts";
import { wholeNumber } from "../http/schemas.ts";
import { soughtText } from "../http/text-schemas.ts";

const MAX_DAYS = 90;
const customer = described(soughtText, "The id of the customer, or the name in any case.");

export const newLink = v.strictObject({
  customer,
  days: described(wholeNumber(1, MAX_DAYS), "How long the link can be used."),
});
export const linkQuery = v.strictObject({ customer: v.optional(customer) });

export const linkView = v.strictObject({
  id: v.string(),
  customer: shownCustomer,
  createdAt: dateTime,
  createdBy: v.string(),
  endsAt: dateTime,
  openedAt: described(
    v.nullable(dateTime),
    "The minute in which the page was last opened with the link. Null: not since version 2.3.",
  ),
});
export type LinkView = v.InferOutput<typeof linkView>;

export const revokedLink = v.strictObject({ ...linkView.entries, says });
export const linkList = v.strictObject({ links: v.array(linkView) });
export const issuedLink = v.strictObject({
  ...linkView.entries,
  says,
  link: described(v.string(), "The address. Its part after the # is a secret."),
});
