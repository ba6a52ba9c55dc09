/** Queries of `/admin/alerts`. */
import * as v from "valibot";
import { ALERT_STATES } from "../../db/values.ts";
import { oneOf, pageSize } from "../http/schemas.ts";

export const alertQuery = v.strictObject({
  state: v.optional(oneOf([...ALERT_STATES, "all"]), "all"),
  after: v.optional(v.string()),
  limit: pageSize,
});
