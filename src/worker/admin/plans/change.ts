/** Changes a plan's limits, and tells the limiters of the plan's keys. */
import type * as v from "valibot";
import type { Bindings } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { plans } from "../../db/schema.ts";
import { invalidRequest } from "../../errors.ts";
import type { Author } from "../audit/sql.ts";
import { make, selectMembers, updateRow } from "../change.ts";
import { tellAtOnce } from "../tell-limiters.ts";
import { conflictOnMissingLimit } from "../write-conflict.ts";
import type { planUpdate, updatedPlan } from "./schema.ts";
import { planTarget } from "./sql.ts";

const LIMIT_NEEDED = "A key of this plan has no limit of its own and relies on the plan's.";

export async function updatePlan(
  env: Bindings,
  id: string,
  changes: v.InferOutput<typeof planUpdate>,
  author: Author,
  expected?: number,
): Promise<v.InferOutput<typeof updatedPlan>> {
  if (Object.keys(changes).length === 0) throw invalidRequest("This changes nothing.");
  const target = planTarget(id);
  const updated = make(openDatabase(env.DB), target, {
    call: "plans.update",
    before: selectMembers(target, Object.keys(changes)),
    after: changes,
    author,
    expected,
    // The database refuses to remove a limit that a key relies on.
    statements: (isMade) => [updateRow(plans, id, changes, isMade)],
  });
  const { now } = await conflictOnMissingLimit(LIMIT_NEEDED, updated);
  return { ...now, effective: await tellAtOnce(env, { plan: id }) };
}
