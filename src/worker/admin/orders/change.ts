/** Changes and deletes an order. Orders are JSON text of SQLite, with all digits of their integers. */
import { sql } from "drizzle-orm";
import type * as v from "valibot";
import { orders } from "../../db/order-schema.ts";
import { ORDER_STATUSES } from "../../db/values.ts";
import { conflict, invalidRequest } from "../../errors.ts";
import { type Asked, make, updateRow } from "../change.ts";
import type { orderUpdate } from "./schema.ts";
import { ORDER_JSON, ORDER_TEXT, type OrderText, orderTarget } from "./sql.ts";

/** A status goes backwards only if the operator says so. */
export async function updateOrder(input: Asked<v.InferOutput<typeof orderUpdate>>): Promise<OrderText> {
  const { id, body } = input;
  const { allowBackwards, ...changes } = body;
  const target = orderTarget(id);
  if (Object.keys(changes).length === 0) throw invalidRequest("This changes nothing.");
  const { status } = changes;
  // All of them, if the status stays as it is.
  const earlier = ORDER_STATUSES.slice(0, status && ORDER_STATUSES.indexOf(status) + 1);
  const { now, isMade } = await make(input, target, {
    call: "orders.update",
    before: Object.keys(changes),
    after: changes,
    onlyIf: sql`(${allowBackwards} or status in (select value from json_each(${JSON.stringify(earlier)})))`,
    statements: (isMade) => [updateRow(orders, id, changes, isMade)],
  });
  if (isMade) return now;
  // The console and the command show the text too, so the text names no member.
  throw conflict(`This would set the status back from ${now.status} to ${status}, which was not allowed.`);
}

/** Whatever the order's status. Its audit row has the whole order. Returns the order as it was. */
export async function deleteOrder(input: Asked): Promise<OrderText> {
  const target = orderTarget(input.id);
  const { now } = await make(input, target, {
    call: "orders.delete",
    before: sql`(select ${ORDER_JSON} from ${target.row})`,
    statements: (isMade) => [sql`delete from ${target.row} and ${isMade} returning ${ORDER_TEXT}`],
  });
  return now;
}
