/** The fields of the forms that create and change a key. */
import { Fields } from "../../console/fields.tsx";
import type { Typed } from "../../console/members.ts";
import { formatNumber } from "../../format.ts";
import type { PlanView } from "../plans/schema.ts";
import { keyUpdate, newKey } from "./schema.ts";

const BEFORE_PLACE = [
  "name",
  ["ownerName", "ownerEmail"],
  "plan",
  ["requestsPerMinute", "requestsPerDay"],
  "expiresAt",
  "note",
] as const;

type Props = { readonly texts: Typed; readonly plans: readonly PlanView[]; readonly isNew?: boolean };

export function KeyFields({ texts, plans, isNew = false }: Props) {
  const own = {
    plan: { choices: Object.fromEntries(plans.map((plan) => [plan.id, `${plan.id} (${limitsOf(plan)})`])) },
    location: { choices: { "": "Near the first request" } },
  };
  const shared = { form: "key", texts, own };
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
