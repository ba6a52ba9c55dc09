/** Queries and answers of `/admin/audit`. */
import * as v from "valibot";
import { PLAN_IDS } from "../../db/values.ts";
import { isCustomerId, isKeyId } from "../../key/key.ts";
import { isInt64 } from "../../text/int64.ts";
import { count, dateTime, described, next } from "../http/answer-schemas.ts";
import { format, oneOf, paging, range } from "../http/schemas.ts";
import { soughtText } from "../http/text-schemas.ts";
import { AUDIT_CALLS } from "../says.ts";

const OBJECT = "the id of a key, plan, order, customer, link or session, or orders for loads";

/** `keys` stands for all keys. */
export function isObjectId(text: string): boolean {
  return (
    isKeyId(text) ||
    isCustomerId(text) ||
    isInt64(text) ||
    /^(link|session)_\w+$/.test(text) ||
    [...PLAN_IDS, "orders", "keys"].includes(text)
  );
}

export const auditQuery = v.strictObject({
  actor: v.optional(described(soughtText, "The name of the operator who made the change.")),
  call: v.optional(described(oneOf(AUDIT_CALLS), "The change, by the id of its call.")),
  object: v.optional(described(v.pipe(v.string(), v.check(isObjectId, `must be ${OBJECT}`)), OBJECT)),
  batch: v.optional(
    described(soughtText, "What the entries of several keys, a shipment or a load have in common."),
  ),
  ...range,
  ...paging,
  format,
});

export const auditView = v.strictObject({
  id: count,
  at: dateTime,
  requestId: v.string(),
  actor: v.string(),
  call: v.string(),
  object: described(v.string(), "The id of the key, plan, order, customer, link or session that changed."),
  objectName: described(
    v.nullable(v.string()),
    "The name of the key or the customer, as it is now. Null: neither.",
  ),
  names: described(
    v.record(v.string(), v.string()),
    "The names of customers whom `before` and `after` have by their ids: as they are now, or were before a merge.",
  ),
  before: described(v.unknown(), "The changed members as they were. Null: none."),
  after: described(v.unknown(), "The changed members as they became. Null: none."),
  batch: described(
    v.nullable(v.string()),
    "What the entries of one change have in common: of several keys, a shipment or a load. Null: it is of one object.",
  ),
  undoable: described(
    v.boolean(),
    "Whether an undo of this entry works: nothing has changed its object since, and the object can be so again.",
  ),
});
export type AuditView = v.InferOutput<typeof auditView>;

export const auditPage = v.strictObject({ audit: v.array(auditView), next });
