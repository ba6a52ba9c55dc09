/** Query of `/admin/customers`. */
import * as v from "valibot";
import { CUSTOMER_PERIODS, CUSTOMER_SORTS } from "../../db/values.ts";
import { oneOf } from "../http/schemas.ts";
import { tableQuery } from "../usage/schema.ts";

export const customerQuery = v.strictObject({
  days: v.optional(oneOf(CUSTOMER_PERIODS), "30"),
  sort: v.optional(oneOf(CUSTOMER_SORTS), "near"),
  ...tableQuery,
});
