/** Bodies and answers of `/admin/plans`. */
import * as v from "valibot";
import { formatNumber } from "../../text/format.ts";
import { count, dateTime, described, effective, limitOrNull, says, version } from "../http/answer-schemas.ts";
import { limits, wholeNumber } from "../http/schemas.ts";

const PERCENTS = "must be 1 to 5 whole numbers from 1 to 100, the lowest first";
const alertPercents = v.pipe(
  v.array(wholeNumber(1, 100), PERCENTS),
  v.minLength(1, PERCENTS),
  v.maxLength(5, PERCENTS),
  v.check((percents) => percents.every((each, i) => i === 0 || each > (percents[i - 1] ?? 0)), PERCENTS),
);
const ALERTS_AT = "The shares of a key's day, in percent, that send an alert. Null: none.";

export const planUpdate = v.strictObject({
  ...limits,
  alertPercents: v.optional(
    v.pipe(v.nullable(alertPercents), v.description(ALERTS_AT), v.metadata({ kind: "numbers" })),
  ),
});
export type PlanUpdate = v.InferOutput<typeof planUpdate>;

export const LIMITS = ["requestsPerMinute", "requestsPerDay"] as const;
export type LimitName = (typeof LIMITS)[number];
const TITLES = { requestsPerMinute: "Requests per minute", requestsPerDay: "Requests per day" };

/** `Requests per day: 10,000 → 20,000` */
export function limitChange(limit: LimitName, before: number | null, after: number | null): string {
  const [was, is] = [before, after].map((value) => (value === null ? "none" : formatNumber(value)));
  return `${TITLES[limit]}: ${was} → ${is}`;
}

/** `at 80, 100 %` */
export function alertsAt(percents: readonly number[] | null): string {
  return percents === null ? "none" : `at ${percents.join(", ")} %`;
}

/** `600 a minute, 10,000 a day`, of the limits that are there. */
export function limitsInWords(limits: { readonly [Each in LimitName]?: unknown }): string {
  const windows = { requestsPerMinute: "a minute", requestsPerDay: "a day" };
  const set = LIMITS.filter((name) => limits[name] !== undefined);
  return set
    .map((name) => `${limits[name] === null ? "none" : formatNumber(Number(limits[name]))} ${windows[name]}`)
    .join(", ");
}

const planLimit = described(limitOrNull, "Null: each key of the plan has its own limit.");

export const planView = v.strictObject({
  id: v.string(),
  requestsPerMinute: planLimit,
  requestsPerDay: planLimit,
  alertPercents: described(v.nullable(v.array(count)), ALERTS_AT),
  keys: described(count, "How many keys the plan has, without revoked ones."),
  version,
  changedAt: described(v.nullable(dateTime), "The last change in the audit log. Null: there is none."),
});
export type PlanView = v.InferOutput<typeof planView>;

export const planList = v.strictObject({ plans: v.array(planView) });
export const updatedPlan = v.strictObject({ ...planView.entries, effective, says });
