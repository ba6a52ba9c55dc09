/** Says what to sell to a customer. */
import type { Child } from "hono/jsx";
import type { ShownCustomer } from "../../../admin/http/answer-schemas.ts";
import type { PlanView } from "../../../admin/plans/schema.ts";
import type { UsageOfKeys } from "../../../admin/usage/schema.ts";
import { isUsable } from "../../../key/key.ts";
import { formatNumber, planName } from "../../../text/format.ts";
import { Customer } from "../../kit/ui.tsx";

/** A customer's key that comes closest to its limit of the day. */
type Near = Omit<NonNullable<UsageOfKeys["nearest"]>, "customer"> &
  Pick<UsageOfKeys, "daysNear" | "daysNearNow" | "peakPercentNow"> & { readonly customer: ShownCustomer };

/** Without `helps`, nothing is to be done. */
type Advice = { readonly says: Child; readonly helps?: Child };

/**
 * Returns advice if the key was near its limit on most days of a week or more. A larger plan does not help a
 * key that has a limit of its own.
 */
export function adviceTo(near: Near, days: number, plans: readonly PlanView[]): Advice | undefined {
  const { customer, keyId, keyName, status, plan, limits, daysNear, daysNearNow, peakPercentNow } = near;
  if (!isUsable(status) || days < 7 || 2 * daysNear <= days) return undefined;
  const perDay = limits.requestsPerDay;
  const ofNow = `${formatNumber(perDay)} requests a day`;
  const was = (
    <>
      <Customer of={customer} />: <a href={`/console/keys/${keyId}`}>{keyName}</a> used 80 % of its limit or
      more on {daysNear} of {days} days.
    </>
  );
  if (2 * daysNearNow <= days) {
    const since = peakPercentNow === null ? "has not been used" : `used ${peakPercentNow} % at most`;
    return {
      says: (
        <>
          {was} With {ofNow}, its limit now, it {since}.
        </>
      ),
    };
  }
  const isOfPlan = plans.some(({ id, requestsPerDay }) => id === plan && requestsPerDay === perDay);
  const [next] = plans
    .filter(({ requestsPerDay }) => isOfPlan && requestsPerDay !== null && requestsPerDay > perDay)
    .toSorted((a, b) => (a.requestsPerDay ?? 0) - (b.requestsPerDay ?? 0));
  return {
    says: (
      <>
        {was} {ofNow} are too few.
      </>
    ),
    helps: (
      <a href={`/console/keys/${keyId}/edit`}>
        {next ? `Change the plan to ${planName(next.id)}` : "Give the key a higher limit"}
      </a>
    ),
  };
}

/** The advice to each customer of a list. */
export function advicesTo(
  customers: readonly (ShownCustomer & { readonly usage: UsageOfKeys })[],
  days: number,
  plans: readonly PlanView[],
): Advice[] {
  return customers.flatMap(({ usage, ...customer }) =>
    usage.nearest === null ? [] : (adviceTo({ ...usage.nearest, ...usage, customer }, days, plans) ?? []),
  );
}
