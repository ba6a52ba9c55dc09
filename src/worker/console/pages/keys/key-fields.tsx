/** The fields of the forms that create and change a key. */

import { RIGHTS } from "../../../admin/keys/says.ts";
import { keyUpdate, newKey } from "../../../admin/keys/schema.ts";
import type { PlanView } from "../../../admin/plans/schema.ts";
import { formatNumber } from "../../../text/format.ts";
import type { Failure } from "../../kit/failure.tsx";
import { Fields } from "../../kit/fields.tsx";
import type { FormTexts } from "../../kit/members.ts";

const BEFORE_PLACE = [
  "name",
  ["ownerName", "ownerEmail"],
  "plan",
  ["requestsPerMinute", "requestsPerDay"],
  "mayCancel",
  "expiresAt",
  "note",
] as const;

const THE_PLANS = { hint: "Empty: the plan's limit." };

type Props = {
  readonly texts: FormTexts;
  readonly plans: readonly PlanView[];
  readonly isNew?: boolean;
  readonly failure: Failure | undefined;
};

export function KeyFields({ texts, plans, isNew = false, failure }: Props) {
  const own = {
    plan: { choices: Object.fromEntries(plans.map((plan) => [plan.id, `${plan.id} (${limitsOf(plan)})`])) },
    location: {
      hint: "The limiter counts the key's requests, and stays where it is created.",
      choices: { "": "Near the first request" },
    },
    requestsPerMinute: THE_PLANS,
    requestsPerDay: THE_PLANS,
    mayCancel: { choices: RIGHTS },
    expiresAt: { hint: "Empty: never." },
  };
  const shared = { form: "key", texts, own, failure };
  return isNew ? (
    <Fields schema={newKey} names={[...BEFORE_PLACE, "location"]} {...shared} />
  ) : (
    <Fields schema={keyUpdate} names={BEFORE_PLACE} {...shared} />
  );
}

function limitsOf({ requestsPerMinute, requestsPerDay }: PlanView): string {
  if (requestsPerMinute === null || requestsPerDay === null) return "own limits";
  return `${formatNumber(requestsPerMinute)} a minute, ${formatNumber(requestsPerDay)} a day`;
}
