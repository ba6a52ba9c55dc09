/** Says what to sell to a customer. */

import type { OwnerUsageView } from "../../../admin/usage/schema.ts";
import { PLAN_IDS } from "../../../db/values.ts";

const PLANS: readonly string[] = PLAN_IDS;

type Near = Pick<OwnerUsageView, "owner" | "plan" | "daysNear">;

/** Returns advice if a key of the owner was near its limit on most days of a week or more. */
export function adviceTo({ owner, plan, daysNear }: Near, days: number): string | undefined {
  if (owner === null || days < 7 || 2 * daysNear <= days) return undefined;
  const larger = PLANS[PLANS.indexOf(plan) + 1] ?? "a higher limit";
  return `${owner}: ${plan} is too small. ${daysNear} of ${days} days at 80 % or more. Offer ${larger}.`;
}
