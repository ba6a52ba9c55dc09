/** Changes a plan's limits, and tells the limiters of the plan's keys. */
import type * as v from "valibot";
import { plans } from "../../db/schema.ts";
import { invalidRequest } from "../../errors.ts";
import { type Asked, conflictOnMissingLimit, make, updateRow } from "../change.ts";
import { tellAtOnce } from "../tell-limiters.ts";
import type { updatedPlan } from "./schema.ts";
import { type LimitChanges, planTarget } from "./sql.ts";

const LIMIT_NEEDED = "A key of this plan has no limit of its own and relies on the plan's.";

export async function updatePlan(input: Asked<LimitChanges>): Promise<v.InferOutput<typeof updatedPlan>> {
  const { env, id, body } = input;
  if (Object.keys(body).length === 0) throw invalidRequest("This changes nothing.");
  const updated = make(input, planTarget(id), {
    call: "plans.update",
    before: Object.keys(body),
    after: body,
    // The database refuses to remove a limit that a key relies on.
    statements: (isMade) => [updateRow(plans, id, body, isMade)],
  });
  const { now } = await conflictOnMissingLimit(LIMIT_NEEDED, updated);
  return { ...now, effective: await tellAtOnce(env, { plan: id }) };
}
