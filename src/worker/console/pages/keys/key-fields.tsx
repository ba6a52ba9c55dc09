/** The fields of the forms that create and change a key. */

import { keyUpdate, newKey } from "../../../admin/keys/schema.ts";
import { limitsInWords, type PlanView } from "../../../admin/plans/schema.ts";
import { RIGHTS } from "../../../admin/says.ts";
import { planName } from "../../../text/format.ts";
import type { Failure } from "../../kit/failure.tsx";
import { Fields } from "../../kit/fields.tsx";
import type { FormTexts } from "../../kit/members.ts";

const MEMBERS = [["requestsPerMinute", "requestsPerDay"], "mayCancel", "expiresAt", "note"] as const;

export type KeyFieldsProps = {
  readonly texts: FormTexts;
  readonly plans: readonly PlanView[];
  /** The names of customers. */
  readonly customers: readonly string[];
  readonly isNew?: boolean;
  readonly isFocused?: boolean;
  readonly failure: Failure | undefined;
};

export function KeyFields({
  texts,
  plans,
  customers,
  isNew = false,
  isFocused = false,
  failure,
}: KeyFieldsProps) {
  const ownLimit = { hint: "Empty: the plan's limit." };
  const own = {
    customer: { suggestions: customers, hint: "A new name makes a new customer." },
    plan: {
      choices: Object.fromEntries(plans.map((plan) => [plan.id, `${planName(plan.id)} (${limitsOf(plan)})`])),
    },
    location: {
      hint: "A location hint of Cloudflare, as weur for Western Europe. The place stays as it is at first.",
      choices: { "": "Near the first request" },
    },
    planFrom: {
      hint: "The first day of another plan. Empty: from now on.",
      attributes: { required: false },
    },
    requestsPerMinute: ownLimit,
    requestsPerDay: ownLimit,
    mayCancel: { choices: RIGHTS },
    expiresAt: { hint: "Empty: never." },
  };
  const shared = { form: "key", texts, own, failure, isFocused };
  return isNew ? (
    <>
      <Fields schema={newKey} names={["name", "customer", "plan", ...MEMBERS]} {...shared} />
      <details class="field" open={Boolean(failure?.typed.location)}>
        <summary>More</summary>
        <Fields schema={newKey} names={["location"]} {...shared} isFocused={false} />
      </details>
    </>
  ) : (
    <Fields schema={keyUpdate} names={["name", "customer", ["plan", "planFrom"], ...MEMBERS]} {...shared} />
  );
}

function limitsOf({ requestsPerMinute, requestsPerDay }: PlanView): string {
  if (requestsPerMinute === null || requestsPerDay === null) return "own limits";
  return limitsInWords({ requestsPerMinute, requestsPerDay });
}
