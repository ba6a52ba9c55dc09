/** Says what to sell to a customer. */
import type { Child } from "hono/jsx";
import type { PlanView } from "../../../admin/plans/schema.ts";
import type { KeyUsageView } from "../../../admin/usage/schema.ts";
import { isUsable } from "../../../key/key.ts";
import { formatNumber, planName } from "../../../text/format.ts";

/** A key, and its days near the limit of now. */
type Near = Pick<KeyUsageView, "keyId" | "keyName" | "customer" | "status" | "plan" | "limits" | "daysNear">;

type Advice = { readonly says: Child; readonly helps: Child };

/**
 * Returns advice if the key was near its limit of now on most of the days. A larger plan does not help a key that
 * has a limit of its own.
 */
export function adviceTo(near: Near, days: number, plans: readonly PlanView[]): Advice | undefined {
  const { customer, keyId, keyName, status, plan, limits, daysNear } = near;
  if (customer === null || !isUsable(status) || 2 * daysNear <= days) return undefined;
  const perDay = limits.requestsPerDay;
  const isOfPlan = plans.some(({ id, requestsPerDay }) => id === plan && requestsPerDay === perDay);
  const [next] = plans
    .filter(({ requestsPerDay }) => isOfPlan && requestsPerDay !== null && requestsPerDay > perDay)
    .toSorted((a, b) => (a.requestsPerDay ?? 0) - (b.requestsPerDay ?? 0));
  return {
    says: (
      <>
        <a href={`/console/keys/${keyId}`}>{keyName}</a> used 80 % of its limit or more on {daysNear} of{" "}
        {days} days. {formatNumber(perDay)} requests a day are too few.
      </>
    ),
    helps: (
      <a href={`/console/keys/${keyId}/edit`}>
        {next ? `Change the plan to ${planName(next.id)}` : "Give the key a higher limit"}
      </a>
    ),
  };
}
