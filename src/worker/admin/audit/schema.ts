/** Queries and answers of `/admin/audit`. */
import * as v from "valibot";
import { AUDIT_CALLS } from "../../db/values.ts";
import { count, dateTime, described, next } from "../http/answer-schemas.ts";
import { format, oneOf, paging, range } from "../http/schemas.ts";
import { soughtText } from "../http/text-schemas.ts";

export const auditQuery = v.strictObject({
  actor: v.optional(described(soughtText, "The name of the operator who made the change.")),
  call: v.optional(described(oneOf(AUDIT_CALLS), "The change, by the id of its call.")),
  object: v.optional(described(v.string(), "The id of the key, plan, order or link that changed.")),
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
  object: described(v.string(), "The id of the key, plan, order or link that changed."),
  objectName: described(v.nullable(v.string()), "The name of the key, as it is now. Null: no key."),
  before: described(v.unknown(), "The changed members as they were. Null: none."),
  after: described(v.unknown(), "The changed members as they became. Null: none."),
  undoable: described(
    v.boolean(),
    "Whether the audit log knows no reason against an undo: the kind of the change, or a later change.",
  ),
});
export type AuditView = v.InferOutput<typeof auditView>;

export const auditPage = v.strictObject({ audit: v.array(auditView), next });
