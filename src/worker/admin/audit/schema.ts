/** Queries of `/admin/audit`. */
import * as v from "valibot";
import { AUDIT_CALLS } from "../../db/values.ts";
import { oneOf, pageSize, queryNumber, time } from "../http/schemas.ts";

export const auditQuery = v.strictObject({
  actor: v.optional(v.string()),
  call: v.optional(oneOf(AUDIT_CALLS)),
  object: v.optional(v.string()),
  from: v.optional(time),
  to: v.optional(time),
  before: v.optional(queryNumber(1, Number.MAX_SAFE_INTEGER)),
  limit: pageSize,
});
