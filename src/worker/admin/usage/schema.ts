/** Queries of `/admin/usage` and `/admin/keys/{id}/usage`. */
import * as v from "valibot";
import { PLAN_IDS, USAGE_GROUPS, USAGE_PERIODS, USAGE_SORTS } from "../../db/values.ts";
import { MAX_PAGE_SIZE, oneOf, pastTime, queryNumber } from "../http/schemas.ts";

export const tableQuery = {
  direction: v.optional(oneOf(["asc", "desc"])),
  /** Most of these lists have one page. */
  limit: v.optional(queryNumber(1, MAX_PAGE_SIZE), String(MAX_PAGE_SIZE)),
  after: v.optional(v.string()),
  format: v.optional(oneOf(["json", "csv"]), "json"),
};

type Order = { readonly sort: string; readonly direction?: "asc" | "desc" | undefined };

/** By default the highest figures come first, and names from A on. */
export function directionOf({ sort, direction }: Order): "asc" | "desc" {
  return direction ?? (sort === "name" ? "asc" : "desc");
}

const range = { from: v.optional(pastTime), to: v.optional(pastTime) };

export const usageQuery = v.strictObject({
  ...range,
  by: v.optional(oneOf([...USAGE_PERIODS, ...USAGE_GROUPS]), "key"),
  key: v.optional(v.string()),
  owner: v.optional(v.string()),
  plan: v.optional(oneOf(PLAN_IDS)),
  sort: v.optional(oneOf(USAGE_SORTS), "admitted"),
  ...tableQuery,
});

export const keyUsageQuery = v.strictObject({
  ...range,
  by: v.optional(oneOf(USAGE_PERIODS), "day"),
  format: tableQuery.format,
});
