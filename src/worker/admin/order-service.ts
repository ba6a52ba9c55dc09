/** Finds and changes an order. Orders are JSON text that SQLite wrote, with all digits of their integers. */
import type { Bindings } from "../context.ts";
import { type Author, audit } from "../db/audit-repository.ts";
import { type Database, openDatabase, transact } from "../db/database.ts";
import {
  findOrderJson,
  type OrderChanges,
  orderExists,
  updateOrderRow,
} from "../db/order-import-repository.ts";
import { invalidRequest, notFound } from "../errors.ts";
import { isInt64 } from "../orders/int64.ts";

export async function requireOrderJson(db: Database, orderId: string): Promise<string> {
  const order = isInt64(orderId) ? await findOrderJson(db, orderId) : undefined;
  if (order === undefined) throw notFound("No order has this id.");
  return order;
}

/** The changed order as JSON text. */
export async function updateOrder(
  env: Bindings,
  orderId: string,
  changes: OrderChanges,
  author: Author,
): Promise<string> {
  const db = openDatabase(env.DB);
  const before = membersOf(await requireOrderJson(db, orderId), Object.keys(changes));
  if (Object.keys(changes).length === 0) throw invalidRequest("The body changes nothing.");
  const change = { call: "orders.update", object: orderId, before, after: changes };
  const [, [updated]] = await transact<[never, { json: string }]>(db, [
    audit(db, author, change, orderExists(orderId)),
    updateOrderRow(orderId, changes),
  ]);
  if (!updated) throw notFound("The order was cancelled meanwhile.");
  return updated.json;
}

function membersOf(json: string, names: readonly string[]): Record<string, unknown> {
  // SQLite made this object. A quantity above 2^53 is rounded here, in the audit log only.
  const order = JSON.parse(json) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(order).filter(([name]) => names.includes(name)));
}
