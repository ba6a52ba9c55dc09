/** What to sell to a customer, in words. */
import { PLAN_IDS } from "../../db/values.ts";
import { DAY_SECONDS } from "../../time.ts";
import type { OwnerUsageView } from "./schema.ts";

const PLANS: readonly string[] = PLAN_IDS;

type Range = { readonly from: string; readonly to: string };

/** To an owner with a key that was near its limit on most days of a week or more; undefined: nothing. */
export function adviceTo({ owner, plan, daysNear }: OwnerUsageView, { from, to }: Range): string | undefined {
  const days = Math.ceil((Date.parse(to) - Date.parse(from)) / (DAY_SECONDS * 1000));
  if (owner === null || days < 7 || 2 * daysNear <= days) return undefined;
  const larger = PLANS[PLANS.indexOf(plan) + 1] ?? "a higher limit";
  return `${owner}: ${plan} is too small. ${daysNear} of ${days} days at 80 % or more. Offer ${larger}.`;
}
