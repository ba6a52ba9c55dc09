/** Queries of `/admin/usage` and `/admin/keys/{id}/usage`. */
import * as v from "valibot";
import { USAGE_SORTS } from "../../db/values.ts";
import { day, MAX_PAGE_SIZE, oneOf, queryNumber } from "../http/schemas.ts";

const MAX_USAGE_HOURS = 7 * 24;

const format = v.optional(oneOf(["json", "csv"]), "json");

export const keyUsageQuery = v.strictObject({
  days: v.optional(queryNumber(1, 90), "90"),
  hours: v.optional(queryNumber(0, MAX_USAGE_HOURS), "0"),
  format,
});

export const dayUsageQuery = v.strictObject({
  day: v.optional(day),
  sort: v.optional(oneOf(USAGE_SORTS), "admitted"),
  /** Most of these lists have one page. */
  limit: v.optional(queryNumber(1, MAX_PAGE_SIZE), String(MAX_PAGE_SIZE)),
  after: v.optional(v.string()),
  format,
  /** The rows of a CSV. */
  by: v.optional(oneOf(["key", "hour"]), "key"),
});
