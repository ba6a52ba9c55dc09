/** Changes or deletes an order by the admin API. */
import { fetchOrders, textOf } from "../admin-client.ts";
import { unreachable } from "../problem.ts";
import type { OpenSession } from "../session.ts";
import { type Order, parseOrder } from "./order-types.ts";

type Expected = Pick<Order, "id"> & Partial<Order>;

/** Throws unless the answer is the order with these values: a page of a proxy in between can have status 200, too. */
export async function changeOrder(
  session: OpenSession,
  expected: Expected,
  init: RequestInit,
): Promise<void> {
  const answer = parsed(await textOf(fetchOrders(session, `/${expected.id}`, init)));
  if (answer?.id !== expected.id) throw unreachable();
  if (expected.status !== undefined && answer.status !== expected.status) throw unreachable();
}

function parsed(text: string): Order | null {
  try {
    return parseOrder(text);
  } catch {
    throw unreachable();
  }
}
