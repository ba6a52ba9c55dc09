/** Says what to sell to a customer. */
import type { Child } from "hono/jsx";
import type { ListedCustomer } from "../../../admin/customers/schema.ts";
import type { ShownCustomer } from "../../../admin/http/answer-schemas.ts";
import type { KeyView } from "../../../admin/keys/schema.ts";
import type { PlanView } from "../../../admin/plans/schema.ts";
import type { KeyUsageView } from "../../../admin/usage/schema.ts";
import { isUsable } from "../../../key/key.ts";
import { formatNumber, planName } from "../../../text/format.ts";
import { Customer } from "../../kit/ui.tsx";

/** A customer's key that comes closest to its limit of the day. */
type Near = Pick<KeyUsageView, "keyId" | "keyName" | "status" | "plan" | "limits" | "daysNear"> & {
  readonly customer: ShownCustomer;
};

type Advice = { readonly says: Child; readonly helps: Child };

/**
 * Returns advice if the key was near its limit on most days of a week or more. A larger plan does not help a
 * key that has a limit of its own. With `keys`, those of the customer, no plan is offered that the customer has.
 */
export function adviceTo(
  { customer, keyId, keyName, status, plan, limits, daysNear }: Near,
  days: number,
  plans: readonly PlanView[],
  keys: readonly KeyView[] = [],
): Advice | undefined {
  if (!isUsable(status) || days < 7 || 2 * daysNear <= days) return undefined;
  const perDay = limits.requestsPerDay;
  const isOfPlan = plans.some(({ id, requestsPerDay }) => id === plan && requestsPerDay === perDay);
  const [next] = plans
    .filter(({ requestsPerDay }) => isOfPlan && requestsPerDay !== null && requestsPerDay > perDay)
    .toSorted((a, b) => (a.requestsPerDay ?? 0) - (b.requestsPerDay ?? 0));
  const onNext = keys.find(({ plan: each, status }) => each === next?.id && isUsable(status));
  return {
    says: (
      <>
        <Customer of={customer} />: {formatNumber(perDay)} requests a day are too few for{" "}
        <a href={`/console/keys/${keyId}`}>{keyName}</a>, which used 80 % or more on {daysNear} of {days}{" "}
        days.
      </>
    ),
    helps: onNext ? (
      <>
        <a href={`/console/keys/${onNext.id}`}>{onNext.name}</a> has plan {planName(onNext.plan)} already.
      </>
    ) : (
      <a href={`/console/keys/${keyId}/edit`}>
        {next ? `Change the plan to ${planName(next.id)}` : "Give the key a higher limit"}
      </a>
    ),
  };
}

/** The advice to each customer of a list. */
export function advicesTo(
  customers: readonly ListedCustomer[],
  days: number,
  plans: readonly PlanView[],
): Advice[] {
  return customers.flatMap(({ usage: { nearest, daysNear }, ...customer }) =>
    nearest === null ? [] : (adviceTo({ ...nearest, daysNear, customer }, days, plans) ?? []),
  );
}
