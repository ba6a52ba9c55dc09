/** Queries and answers of `/admin/usage` and `/admin/keys/{id}/usage`. */
import * as v from "valibot";
import { PLAN_IDS, USAGE_GROUPS, USAGE_PERIODS, USAGE_SORTS } from "../../db/values.ts";
import { count, dateTime, limitsInForce, next } from "../http/answer-schemas.ts";
import { format, MAX_PAGE_SIZE, oneOf, queryNumber, range } from "../http/schemas.ts";
import { soughtText } from "../http/text-schemas.ts";

export const tableQuery = {
  direction: v.optional(oneOf(["asc", "desc"])),
  /** Most of these lists have one page. */
  limit: v.optional(queryNumber(1, MAX_PAGE_SIZE), String(MAX_PAGE_SIZE)),
  after: v.optional(v.string()),
  format,
};

type Order = { readonly sort: string; readonly direction?: "asc" | "desc" | undefined };

/** By default the highest figures come first, and names from A on. */
export function directionOf({ sort, direction }: Order): "asc" | "desc" {
  return direction ?? (sort === "name" ? "asc" : "desc");
}

export const usageQuery = v.strictObject({
  ...range,
  by: v.optional(v.pipe(oneOf([...USAGE_GROUPS, ...USAGE_PERIODS]), v.title("By")), "key"),
  key: v.optional(v.pipe(v.string(), v.title("Key (id)"))),
  owner: v.optional(v.pipe(soughtText, v.title("Owner"))),
  plan: v.optional(v.pipe(oneOf(PLAN_IDS), v.title("Plan"))),
  sort: v.optional(oneOf(USAGE_SORTS), "admitted"),
  ...tableQuery,
});

export const keyUsageQuery = v.strictObject({
  ...range,
  by: v.optional(oneOf(USAGE_PERIODS), "day"),
  format,
});

export const figures = { admitted: count, refused: count, refusedWhileBanned: count };
const timeUsage = v.strictObject({
  start: v.pipe(v.string(), v.description("A day, or when an hour begins.")),
  ...figures,
});
export type TimeUsage = v.InferOutput<typeof timeUsage>;

const refusedMinute = v.strictObject({
  at: dateTime,
  by: v.pipe(
    v.record(v.string(), count),
    v.description(
      "How many requests were refused by the limit of the `minute`, of the `day`, or by a `ban`.",
    ),
  ),
});
export type RefusedMinute = v.InferOutput<typeof refusedMinute>;
export const hourUsage = v.strictObject({ ...timeUsage.entries, refusedMinutes: v.array(refusedMinute) });
export type HourUsage = v.InferOutput<typeof hourUsage>;

const keyUsage = v.strictObject({
  keyId: v.string(),
  keyName: v.string(),
  ownerName: v.nullable(v.string()),
  ownerEmail: v.nullable(v.string()),
  plan: v.string(),
  limits: limitsInForce,
  percent: v.pipe(v.number(), v.description("Of the limit in force, over the days that have begun.")),
  ...figures,
});
export type KeyUsageView = v.InferOutput<typeof keyUsage>;
const ownerUsage = v.strictObject({ owner: v.nullable(v.string()), keyCount: count, ...figures });
const planUsage = v.strictObject({ plan: v.string(), keyCount: count, ...figures });

export const asOf = v.pipe(dateTime, v.description("All requests before this time are in the figures."));
const answered = { from: dateTime, to: dateTime, asOf };

export const usageAnswer = v.strictObject({
  ...answered,
  by: v.picklist([...USAGE_PERIODS, ...USAGE_GROUPS]),
  rows: v.array(v.union([timeUsage, keyUsage, ownerUsage, planUsage])),
  total: v.strictObject({ keyCount: count, ...figures }),
  next,
});
export const keyUsageAnswer = v.strictObject({
  keyId: v.string(),
  ...answered,
  by: v.picklist(USAGE_PERIODS),
  rows: v.array(v.union([hourUsage, timeUsage])),
  total: v.strictObject(figures),
});
