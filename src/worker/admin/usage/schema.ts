/** Queries and answers of `/admin/usage` and `/admin/keys/{id}/usage`. */
import * as v from "valibot";
import { NEAR_LIMIT_PERCENT, PLAN_IDS, USAGE_PERIODS, USAGE_SORTS, type UsageSort } from "../../db/values.ts";
import {
  count,
  dateTime,
  described,
  keyStatus,
  limitsInForce,
  next,
  shownCustomer,
} from "../http/answer-schemas.ts";
import { format, keyId, MAX_PAGE_SIZE, oneOf, queryNumber, range } from "../http/schemas.ts";
import { soughtText } from "../http/text-schemas.ts";

type UsageOrder = { readonly sort?: UsageSort | undefined; readonly direction?: "asc" | "desc" | undefined };

/** By default the most admitted requests come first. Of any sort the highest figures do, and names from A on. */
export function orderOf({ sort = "admitted", direction }: UsageOrder) {
  return { sort, direction: direction ?? (sort === "name" ? "asc" : "desc") } as const;
}

export const usageQuery = v.strictObject({
  ...range,
  by: v.optional(described(oneOf(["key", ...USAGE_PERIODS]), "What each row is about."), "key"),
  key: v.optional(described(keyId, "Only this key.")),
  customer: v.optional(described(soughtText, "Only use of this customer: an id, or a name in any case.")),
  plan: v.optional(described(oneOf(PLAN_IDS), "Only use under this plan.")),
  sort: v.optional(
    described(oneOf(USAGE_SORTS), "`admitted` by default. Hours and days are in the order of time."),
  ),
  direction: v.optional(oneOf(["asc", "desc"])),
  /** Most ranges have one page. */
  limit: v.optional(queryNumber(1, MAX_PAGE_SIZE), String(MAX_PAGE_SIZE)),
  after: v.optional(v.string()),
  format,
});

export const keyUsageQuery = v.strictObject({
  ...range,
  by: v.optional(oneOf(USAGE_PERIODS), "day"),
  format,
});

export const usageTotal = { admitted: count, refused: count, refusedWhileBanned: count };
export const timeUsage = v.strictObject({
  start: described(v.string(), "A day, or when an hour begins."),
  ...usageTotal,
});
export type TimeUsage = v.InferOutput<typeof timeUsage>;
export const dayUsage = v.strictObject({
  ...timeUsage.entries,
  limitPerDay: described(
    v.nullable(count),
    "The limit at the day's last request. Null: there was no request.",
  ),
});
export type DayUsage = v.InferOutput<typeof dayUsage>;

/** Counts the days with this limit that used 80 % of it or more. Days under another limit say nothing about it. */
export function daysNearNow(
  days: readonly DayUsage[],
  { requestsPerDay }: { readonly requestsPerDay: number },
): number {
  const isNear = ({ admitted, limitPerDay }: DayUsage) =>
    limitPerDay === requestsPerDay && 100 * admitted >= NEAR_LIMIT_PERCENT * limitPerDay;
  return days.filter(isNear).length;
}

const refusedMinute = v.strictObject({
  at: dateTime,
  by: described(
    v.record(v.string(), count),
    "How many requests were refused by the limit of the `minute`, of the `day`, or by a `ban`.",
  ),
});
export type RefusedMinuteView = v.InferOutput<typeof refusedMinute>;
export const hourUsage = v.strictObject({ ...timeUsage.entries, refusedMinutes: v.array(refusedMinute) });
export type HourUsageView = v.InferOutput<typeof hourUsage>;

const closeness = {
  daysNear: described(count, "Days at 80 % of the limit of that day, or more."),
  peakPercent: described(v.number(), "The highest percentage of a day."),
};
export const keyUsage = v.strictObject({
  keyId: v.string(),
  keyName: v.string(),
  customer: v.nullable(shownCustomer),
  status: keyStatus,
  plan: v.string(),
  limits: limitsInForce,
  percent: described(
    v.number(),
    "The mean of the days that have begun, each in percent of the limit of that day.",
  ),
  ...closeness,
  ...usageTotal,
});
export type KeyUsageView = v.InferOutput<typeof keyUsage>;
/** The use of all keys of a customer. Closeness is that of the key that comes closest to its limit. */
export const usageOfKeys = v.strictObject({
  keyCount: described(count, "Keys that were in use."),
  ...closeness,
  ...usageTotal,
});

export const USAGE_ROWS = {
  hour: timeUsage,
  day: timeUsage,
  key: keyUsage,
};

export const asOf = described(
  dateTime,
  "All requests until this time are counted. Of later requests, the figures lack at most a quarter of the day's, if the limiters can report.",
);
export const unreachable = described(
  v.array(v.string()),
  "The latest requests of these keys may be missing: their limiters could not report, or could not be reached. A question about up to 50 keys asks their limiters first. Else up to 50 of all such keys are named.",
);
export const answered = {
  from: dateTime,
  to: dateTime,
  completeFrom: described(
    dateTime,
    "Requests from this time on are counted: `from`, or a later day, if earlier usage is deleted or there was none.",
  ),
  asOf,
};

export const usageAnswer = v.strictObject({
  ...answered,
  by: v.picklist([...USAGE_PERIODS, "key"]),
  rows: v.array(v.union([timeUsage, keyUsage])),
  total: v.strictObject({ keyCount: described(v.optional(count), "By key."), ...usageTotal }),
  next,
  unreachable,
});
/** A customer is advised after a week. */
export const ADVICE_DAYS = 7;
export const nearQuery = v.strictObject({ limit: v.optional(queryNumber(1, 100), "10") });
export const nearAnswer = v.strictObject({
  keys: described(v.array(keyUsage), "Keys that have used 80 % of their day or more, the closest first."),
  hasMoreKeys: v.boolean(),
  often: described(
    v.array(keyUsage),
    `Keys that used 80 % or more of the limit of now on most of the last ${ADVICE_DAYS} days, which \`daysNear\` counts.`,
  ),
});
export const keyUsageAnswer = v.strictObject({
  keyId: v.string(),
  ...answered,
  by: v.picklist(USAGE_PERIODS),
  rows: v.array(v.union([hourUsage, dayUsage])),
  total: v.strictObject(usageTotal),
  unreachable,
});
