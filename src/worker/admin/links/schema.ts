/** Bodies and answers of `/admin/links`. */
import * as v from "valibot";
import { dateTime, described, next, says } from "../http/answer-schemas.ts";
import { paging, wholeNumber } from "../http/schemas.ts";
import { soughtText } from "../http/text-schemas.ts";

const MAX_DAYS = 90;
const owner = described(
  soughtText,
  "The owner's name, or the e-mail address of an owner without a name; in any case.",
);

export const newLink = v.strictObject({
  owner,
  days: described(wholeNumber(1, MAX_DAYS), "How long the link can be used."),
});
export const linkQuery = v.strictObject({ owner: v.optional(owner), ...paging });

export const linkView = v.strictObject({
  id: v.string(),
  owner: v.string(),
  createdAt: dateTime,
  createdBy: v.string(),
  endsAt: dateTime,
});
export type LinkView = v.InferOutput<typeof linkView>;

export const revokedLink = v.strictObject({ ...linkView.entries, says });
export const linkPage = v.strictObject({ links: v.array(linkView), next });
export const issuedLink = v.strictObject({
  ...linkView.entries,
  says,
  link: described(v.string(), "The address. Its part after the # is a secret."),
});
