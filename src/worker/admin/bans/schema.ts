/** Bodies and queries of `/admin/bans` and `/admin/keys/{id}/ban`. */
import * as v from "valibot";
import { MAX_OPERATOR_BAN_SECONDS } from "../../db/values.ts";
import { oneOf, pageSize, wholeNumber } from "../http/schemas.ts";
import { shortText } from "../http/text-schemas.ts";

export const banRequest = v.strictObject({
  seconds: wholeNumber(1, MAX_OPERATOR_BAN_SECONDS),
  reason: shortText(500),
});

export const banQuery = v.strictObject({
  state: v.optional(oneOf(["live", "past", "all"]), "all"),
  key: v.optional(v.string()),
  after: v.optional(v.string()),
  limit: pageSize,
});
