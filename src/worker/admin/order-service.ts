/** Finds, changes and deletes an order. Orders are JSON text that SQLite wrote, with all digits of their integers. */
import type { Bindings } from "../context.ts";
import { type Author, audit, type Change } from "../db/audit-repository.ts";
import { type Database, openDatabase, transact } from "../db/database.ts";
import {
  deleteOrderRow,
  findOrderJson,
  isUpdatable,
  type OrderChanges,
  orderExists,
  selectOrderJson,
  selectOrderMembers,
  selectOrderStatus,
  updateOrderRow,
} from "../db/order-admin-repository.ts";
import { conflict, invalidRequest, notFound } from "../errors.ts";
import { isInt64 } from "../orders/int64.ts";

const NO_ORDER = "No order has this id.";

export async function requireOrderJson(db: Database, orderId: string): Promise<string> {
  const order = isInt64(orderId) ? await findOrderJson(db, orderId) : undefined;
  if (order === undefined) throw notFound(NO_ORDER);
  return order;
}

/** The changed order as JSON text. A status goes backwards only if the operator says so. */
export async function updateOrder(
  env: Bindings,
  orderId: string,
  { allowBackwards, ...changes }: OrderChanges & { readonly allowBackwards: boolean },
  author: Author,
): Promise<string> {
  const db = openDatabase(env.DB);
  if (!isInt64(orderId)) throw notFound(NO_ORDER);
  if (Object.keys(changes).length === 0) throw invalidRequest("The body changes nothing.");
  const before = selectOrderMembers(orderId, Object.keys(changes));
  const change: Change = { call: "orders.update", object: orderId, before, after: changes };
  const [[found], , [updated]] = await transact<[{ status: string }, never, { json: string }]>(db, [
    selectOrderStatus(orderId),
    audit(db, author, change, isUpdatable(orderId, changes, allowBackwards)),
    updateOrderRow(orderId, changes, allowBackwards),
  ]);
  if (updated) return updated.json;
  if (!found) throw notFound(NO_ORDER);
  throw conflict(
    `The order is ${found.status}: to set it back to ${changes.status}, the body needs "allowBackwards": true.`,
  );
}

/** Whatever the order's status. Its audit row has the whole order. Returns it as JSON text. */
export async function deleteOrder(env: Bindings, orderId: string, author: Author): Promise<string> {
  if (!isInt64(orderId)) throw notFound(NO_ORDER);
  const db = openDatabase(env.DB);
  const change: Change = { call: "orders.delete", object: orderId, before: selectOrderJson(orderId) };
  const [, [deleted]] = await transact<[never, { json: string }]>(db, [
    audit(db, author, change, orderExists(orderId)),
    deleteOrderRow(orderId),
  ]);
  if (!deleted) throw notFound(NO_ORDER);
  return deleted.json;
}
