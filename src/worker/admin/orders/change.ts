/** Finds, changes and deletes an order. Orders are JSON text that SQLite wrote, with all digits of their integers. */
import type { Bindings } from "../../context.ts";
import { type Database, openDatabase, transact } from "../../db/database.ts";
import { conflict, invalidRequest, notFound } from "../../errors.ts";
import { isInt64 } from "../../orders/int64.ts";
import { type Audited, type Author, audit, type Change, isAudited } from "../audit/sql.ts";
import { requireVersion } from "../precondition.ts";
import {
  deleteOrderRow,
  findOrder,
  isForward,
  type OrderChanges,
  type OrderText,
  orderExists,
  selectOrder,
  selectOrderJson,
  selectOrderMembers,
  updateOrderRow,
} from "./sql.ts";

const NO_ORDER = "No order has this id.";

export async function requireOrder(db: Database, orderId: string): Promise<OrderText> {
  const order = isInt64(orderId) ? await findOrder(db, orderId) : undefined;
  if (order === undefined) throw notFound(NO_ORDER);
  return order;
}

/** A status goes backwards only if the operator says so. */
export async function updateOrder(
  env: Bindings,
  orderId: string,
  { allowBackwards, ...changes }: OrderChanges & { readonly allowBackwards: boolean },
  author: Author,
  expectedVersion?: number,
): Promise<OrderText> {
  const db = openDatabase(env.DB);
  if (!isInt64(orderId)) throw notFound(NO_ORDER);
  if (Object.keys(changes).length === 0) throw invalidRequest("This changes nothing.");
  const before = selectOrderMembers(orderId, Object.keys(changes));
  const change: Change = { call: "orders.update", object: orderId, before, after: changes };
  const isUpdatable = orderExists(orderId, expectedVersion, isForward(changes, allowBackwards));
  const [[audited], , [order]] = await transact<[Audited, never, OrderText]>(db, [
    audit(db, author, change, isUpdatable),
    updateOrderRow(orderId, changes, isAudited(author, change)),
    selectOrder(orderId),
  ]);
  if (!order) throw notFound(NO_ORDER);
  if (audited) return order;
  requireVersion(order, expectedVersion, order.json);
  throw conflict(`The order is ${order.status}: it goes back to ${changes.status} only with allowBackwards.`);
}

/** Whatever the order's status. Its audit row has the whole order. Returns the order as it was. */
export async function deleteOrder(
  env: Bindings,
  orderId: string,
  author: Author,
  expectedVersion?: number,
): Promise<OrderText> {
  if (!isInt64(orderId)) throw notFound(NO_ORDER);
  const db = openDatabase(env.DB);
  const change: Change = { call: "orders.delete", object: orderId, before: selectOrderJson(orderId) };
  const [[order], [audited]] = await transact<[OrderText, Audited, never]>(db, [
    selectOrder(orderId),
    audit(db, author, change, orderExists(orderId, expectedVersion)),
    deleteOrderRow(orderId, isAudited(author, change)),
  ]);
  if (!order) throw notFound(NO_ORDER);
  if (!audited) requireVersion(order, expectedVersion, order.json);
  return order;
}
