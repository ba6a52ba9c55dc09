/** Bodies and answers of `/admin/plans`. */
import * as v from "valibot";
import { formatNumber } from "../../text/format.ts";
import { count, effective, limitOrNull, version } from "../http/answer-schemas.ts";
import { limits } from "../http/schemas.ts";

export const planUpdate = v.strictObject(limits);

export const LIMITS = ["requestsPerMinute", "requestsPerDay"] as const;
export type Limit = (typeof LIMITS)[number];
const TITLES = { requestsPerMinute: "Requests per minute", requestsPerDay: "Requests per day" };

/** `Requests per day: 10,000 → 20,000` */
export function limitChange(limit: Limit, before: number | null, after: number | null): string {
  const [was, is] = [before, after].map((value) => (value === null ? "none" : formatNumber(value)));
  return `${TITLES[limit]}: ${was} → ${is}`;
}

/** `600 a minute, 10,000 a day`, of the limits that are there. */
export function limitsInWords(limits: { readonly [Each in Limit]?: unknown }): string {
  const windows = { requestsPerMinute: "a minute", requestsPerDay: "a day" };
  const set = LIMITS.filter((name) => limits[name] !== undefined);
  return set
    .map((name) => `${limits[name] === null ? "none" : formatNumber(Number(limits[name]))} ${windows[name]}`)
    .join(", ");
}

const planLimit = v.pipe(limitOrNull, v.description("Null: each key of the plan has its own limit."));

export const planView = v.strictObject({
  id: v.string(),
  requestsPerMinute: planLimit,
  requestsPerDay: planLimit,
  keys: v.pipe(count, v.description("How many keys the plan has, without revoked ones.")),
  version,
});
export type PlanView = v.InferOutput<typeof planView>;

export const planList = v.strictObject({ plans: v.array(planView) });
export const updatedPlan = v.strictObject({ ...planView.entries, effective });
