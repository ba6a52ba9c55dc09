/** Queries of `/admin/audit`. */
import * as v from "valibot";
import { AUDIT_CALLS } from "../../db/values.ts";
import { oneOf, pageSize, pastTime, queryNumber } from "../http/schemas.ts";

export const auditQuery = v.strictObject({
  actor: v.optional(v.string()),
  call: v.optional(oneOf(AUDIT_CALLS)),
  object: v.optional(v.string()),
  from: v.optional(pastTime),
  to: v.optional(pastTime),
  before: v.optional(queryNumber(1, Number.MAX_SAFE_INTEGER)),
  limit: pageSize,
});
