/** Bodies, queries and answers of `/admin/orders`. */
import * as v from "valibot";
import { MAX_ORDERS_PER_SHIPMENT, MIN_QUANTITY, ORDER_STATUSES } from "../../db/values.ts";
import { isInt64 } from "../../text/int64.ts";
import { count, dateTime, described, next, says, version } from "../http/answer-schemas.ts";
import { boolean, format, oneOf, paging, querySwitch, wholeNumber } from "../http/schemas.ts";
import { shortText } from "../http/text-schemas.ts";
import { undoOf } from "../refusal-sql.ts";
import { INT64, loadedOrder, MAX_FILE_NAME_CHARS, MAX_ORDERS_PER_LOAD, shipDate } from "./loaded-order.ts";

/** Undoing a batch makes a batch whose id begins so. */
const batchId = v.pipe(
  shortText(64),
  v.check((text) => !text.startsWith(undoOf("")), "must not begin with undo"),
);

const int64Digits = v.pipe(v.string(INT64), v.check(isInt64, INT64), v.metadata({ kind: "digits" }));
const status = v.optional(oneOf(ORDER_STATUSES));

export const orderUpdate = v.strictObject({
  status,
  complete: v.optional(v.nullable(boolean)),
  shipDate: v.optional(v.pipe(v.nullable(shipDate), v.metadata({ kind: "time" }))),
  quantity: v.optional(
    v.pipe(
      v.nullable(wholeNumber(MIN_QUANTITY, Number.MAX_SAFE_INTEGER)),
      v.metadata({ kind: "digits" }), // an order of a file may have a larger number
    ),
  ),
  allowBackwards: v.optional(
    described(boolean, "Whether the status may go back, as from `shipped` to `pending`."),
    false,
  ),
});

const SHIPMENT = `must be a list of 1 to ${MAX_ORDERS_PER_SHIPMENT} ids: whole numbers of 64 bits, as text`;

export const orderShipment = v.strictObject({
  ids: v.pipe(
    v.array(v.pipe(v.string(SHIPMENT), v.check(isInt64, SHIPMENT)), SHIPMENT),
    v.minLength(1, SHIPMENT),
    v.maxLength(MAX_ORDERS_PER_SHIPMENT, SHIPMENT),
    v.description("The ids of the orders, as text."),
  ),
  shipment: v.optional(
    described(
      batchId,
      "The same text for all calls of a shipment, such as a UUID. They are undone together.",
    ),
  ),
});

/** Ids are text, as in the body. */
export const shipment = v.strictObject({
  shipped: v.array(v.string()),
  unchanged: described(
    v.array(v.strictObject({ id: v.string(), status: v.picklist(ORDER_STATUSES) })),
    "Orders that were shipped or delivered before.",
  ),
  missing: described(v.array(v.string()), "Ids that no order has."),
  says,
});
export type Shipment = v.InferOutput<typeof shipment>;

export const cancelledQuery = v.strictObject({
  ...paging,
  format,
});

export const orderQuery = v.strictObject({
  status,
  petId: v.optional(described(int64Digits, "Only the orders of this pet.")),
  direction: v.optional(oneOf(["asc", "desc"]), "asc"),
  ...paging,
  format,
});

export const loadQuery = v.strictObject({
  file: v.optional(shortText(MAX_FILE_NAME_CHARS)),
  load: v.optional(
    described(batchId, "The same text for all batches of a file, such as a UUID. They are undone together."),
  ),
  "dry-run": querySwitch("Count what would happen, and store nothing."),
  "restore-cancelled": querySwitch("Load orders again that clients have cancelled."),
  "allow-backwards": querySwitch("Let a status go back, as from `shipped` to `pending`."),
});

export type LoadQuery = v.InferOutput<typeof loadQuery>;

/** The form that loads a file. */
export const fileLoad = v.strictObject({
  ...loadQuery.entries,
  "allow-rounded": querySwitch("Load ids that a program may have rounded."),
});

/** `loadOrders` checks the orders one by one. */
export const orderLoad = v.pipe(v.array(loadedOrder), v.maxLength(MAX_ORDERS_PER_LOAD));

const int64 = described(v.string(), "A whole number of 64 bits, as text.");
const members = {
  id: int64,
  petId: v.nullable(int64),
  quantity: v.nullable(int64),
  shipDate: v.nullable(dateTime),
  complete: v.nullable(v.boolean()),
};
export const orderView = v.strictObject({ ...members, status: v.picklist(ORDER_STATUSES), version });
export type OrderView = v.InferOutput<typeof orderView>;
/** The answer of a change. */
export const changedOrder = v.strictObject({ ...orderView.entries, says });
export const orderPage = v.strictObject({ orders: v.array(orderView), next });

export const cancelledOrder = v.strictObject({
  number: described(count, "Cancelled orders are counted. An id can be cancelled again."),
  ...members,
  cancelledAt: dateTime,
  cancelledBy: described(v.string(), "The id of the key that cancelled the order."),
  cancelledByName: described(v.nullable(v.string()), "The name of this key, as it is now."),
  requestId: v.string(),
});
export type CancelledOrder = v.InferOutput<typeof cancelledOrder>;
export const cancelledPage = v.strictObject({ cancelled: v.array(cancelledOrder), next });

const loadCounts = v.strictObject({
  inserted: count,
  updated: count,
  unchanged: count,
  cancelled: described(count, "Orders that clients cancelled before, and that are left so."),
  kept: described(count, "Orders whose status would have gone back, and was kept."),
});
export type LoadCounts = v.InferOutput<typeof loadCounts>;
/** Numbers of orders. Each order is inserted, updated, unchanged or cancelled. */
export const loadFigures = v.strictObject({ ...loadCounts.entries, says });
export type LoadFigures = v.InferOutput<typeof loadFigures>;

export const undoneLoad = v.strictObject({
  restored: described(count, "Orders that are as before the load."),
  removed: described(count, "Orders that the load had inserted, and that are deleted."),
  changed: described(count, "Orders that are gone or have changed since, and are left."),
});
export type UndoneLoad = v.InferOutput<typeof undoneLoad>;
