/** Body and answer of `POST /admin/audit/{id}/undo`. */
import * as v from "valibot";
import { count, described, effective, says } from "../http/answer-schemas.ts";
import { boolean } from "../http/schemas.ts";
import { undoneLoad } from "../orders/schema.ts";

export const undoing = v.strictObject({
  together: v.optional(
    described(
      boolean,
      "Whether to undo also the other entries of its `batch`: keys that were changed, or orders that were shipped, together.",
    ),
    false,
  ),
});

export const undone = v.strictObject({
  call: v.string(),
  undone: described(v.array(v.string()), "The ids of what is as before the change. Of a load, up to 100."),
  left: described(
    v.array(v.string()),
    "Up to 100 orders and keys that are gone, have changed since, or cannot be so any more.",
  ),
  waiting: described(
    count,
    "How many wait, because the change is too large for one call: make the call again.",
  ),
  effective: described(v.nullable(effective), "Null: no key was changed."),
  load: described(v.nullable(undoneLoad), "What became of the orders of a load."),
  says,
});
export type Undone = v.InferOutput<typeof undone>;
