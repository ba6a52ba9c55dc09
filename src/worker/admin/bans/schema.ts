/** Bodies, queries and answers of `/admin/bans` and `/admin/keys/{id}/ban`. */
import * as v from "valibot";
import { BAN_CAUSES, MAX_OPERATOR_BAN_SECONDS } from "../../db/values.ts";
import {
  count,
  dateTime,
  described,
  effective,
  next,
  says,
  shownCustomer,
  version,
} from "../http/answer-schemas.ts";
import { format, keyId, oneOf, paging, range, wholeNumber } from "../http/schemas.ts";
import { shortText, soughtText } from "../http/text-schemas.ts";

export const banRequest = v.strictObject({
  seconds: v.pipe(
    wholeNumber(1, MAX_OPERATOR_BAN_SECONDS),
    v.description("How long the ban lasts, from now on."),
    v.metadata({ kind: "duration" }),
  ),
  reason: described(shortText(500), "Why the key is banned."),
});

export const banQuery = v.strictObject({
  state: v.optional(oneOf(["live", "past", "all"]), "all"),
  key: v.optional(keyId),
  customer: v.optional(described(soughtText, "Only bans of this customer: an id, or a name in any case.")),
  /** Bans that lasted in the range. */
  ...range,
  ...paging,
  format,
});

export const banView = v.strictObject({
  id: v.string(),
  keyId: v.string(),
  keyName: v.nullable(v.string()),
  cause: described(v.picklist(BAN_CAUSES), "`strikes`: the key went on after its refusals."),
  reason: v.nullable(v.string()),
  strikes: described(count, "Seconds in which the key went on. 0 of an operator's ban."),
  startedAt: dateTime,
  endsAt: dateTime,
  liftedAt: v.nullable(dateTime),
  liftedBy: v.nullable(v.string()),
  live: v.boolean(),
});
export type BanView = v.InferOutput<typeof banView>;

export const listedBan = v.strictObject({
  ...banView.entries,
  customer: described(v.nullable(shownCustomer), "Whose the key was when the ban began."),
  keyVersion: described(v.nullable(version), "The version of the key, for `If-Match`."),
});
export type ListedBan = v.InferOutput<typeof listedBan>;
export const banPage = v.strictObject({ bans: v.array(listedBan), next });
export const banSet = v.strictObject({ version, ban: banView, replaced: v.array(banView), effective, says });
export const banLifted = v.strictObject({
  version,
  lifted: described(v.nullable(banView), "The ban that would have ended last. Null: no ban was live."),
  effective,
  says,
});
