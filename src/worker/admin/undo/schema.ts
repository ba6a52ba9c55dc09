/** Body and answer of `POST /admin/audit/{id}/undo`. */
import * as v from "valibot";
import { described, effective } from "../http/answer-schemas.ts";
import { boolean } from "../http/schemas.ts";
import { undoneLoad } from "../orders/schema.ts";

export const undoing = v.strictObject({
  together: v.optional(
    described(boolean, "Whether to undo also what else the same request has changed so: orders, or keys."),
    false,
  ),
});

export const undone = v.strictObject({
  call: v.string(),
  undone: described(v.array(v.string()), "The ids of what is as before the change."),
  left: described(
    v.array(v.string()),
    "Orders and keys that are gone, or not as the change left them. Of a load, up to 100.",
  ),
  effective: described(v.nullable(effective), "Null: no key was changed."),
  load: described(v.nullable(undoneLoad), "What became of the orders of a load."),
});
export type Undone = v.InferOutput<typeof undone>;
