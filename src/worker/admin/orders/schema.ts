/** Bodies and queries of `/admin/orders`. */
import * as v from "valibot";
import { ORDER_STATUSES } from "../../db/values.ts";
import { isInt64 } from "../../orders/int64.ts";
import { MAX_FILE_NAME_CHARS, shipDate } from "../../orders/loaded-order.ts";
import { boolean, oneOf, pageSize, queryNumber, wholeNumber } from "../http/schemas.ts";
import { shortText } from "../http/text-schemas.ts";

const int64Digits = v.pipe(v.string(), v.check(isInt64, "must be a whole number of 64 bits, in digits"));

/** `?name`, `?name=true` or `?name=false`. */
const querySwitch = v.pipe(
  v.optional(v.picklist(["", "true", "false"], "must be true, false, or without a value"), "false"),
  v.transform((text) => text !== "false"),
);

export const orderUpdate = v.strictObject({
  status: v.optional(oneOf(ORDER_STATUSES)),
  complete: v.optional(v.nullable(boolean)),
  shipDate: v.optional(v.nullable(shipDate)),
  quantity: v.optional(v.nullable(wholeNumber(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER))),
  allowBackwards: v.optional(boolean, false),
});

export const cancelledQuery = v.strictObject({
  before: v.optional(queryNumber(1, Number.MAX_SAFE_INTEGER)),
  limit: pageSize,
});

export const orderQuery = v.strictObject({
  status: v.optional(oneOf(ORDER_STATUSES)),
  petId: v.optional(int64Digits),
  after: v.optional(int64Digits),
  direction: v.optional(oneOf(["asc", "desc"]), "asc"),
  limit: pageSize,
});

export const loadQuery = v.strictObject({
  file: v.optional(shortText(MAX_FILE_NAME_CHARS)),
  "restore-cancelled": querySwitch,
  "dry-run": querySwitch,
});
