/** Queries and answers of `/admin/audit`. */
import * as v from "valibot";
import { AUDIT_CALLS } from "../../db/values.ts";
import { count, dateTime, next } from "../http/answer-schemas.ts";
import { boolean, format, oneOf, paging, range } from "../http/schemas.ts";
import { soughtText } from "../http/text-schemas.ts";

export const auditQuery = v.strictObject({
  actor: v.optional(v.pipe(soughtText, v.description("The name of the operator who made the change."))),
  call: v.optional(v.pipe(oneOf(AUDIT_CALLS), v.description("The change, by the id of its call."))),
  object: v.optional(
    v.pipe(v.string(), v.description("The id of the key, plan, order or link that changed.")),
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
  object: v.pipe(v.string(), v.description("The id of the key, plan, order or link that changed.")),
  objectName: v.pipe(
    v.nullable(v.string()),
    v.description("The name of the key, as it is now. Null: no key."),
  ),
  before: v.pipe(v.unknown(), v.description("The changed members as they were. Null: none.")),
  after: v.pipe(v.unknown(), v.description("The changed members as they became. Null: none.")),
});
export type AuditView = v.InferOutput<typeof auditView>;

export const undoing = v.strictObject({
  shipment: v.optional(
    v.pipe(boolean, v.description("Whether to undo the shipment of all orders that were shipped together.")),
    false,
  ),
});

export const undone = v.strictObject({
  call: v.string(),
  undone: v.pipe(v.array(v.string()), v.description("The ids of what is as before the change.")),
  left: v.pipe(
    v.array(v.string()),
    v.description("Orders of the shipment that are gone, or not as the shipment left them."),
  ),
});
export type Undone = v.InferOutput<typeof undone>;

export const auditPage = v.strictObject({ audit: v.array(auditView), next });
