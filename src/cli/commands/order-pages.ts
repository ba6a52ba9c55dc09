/** Lists orders over several pages: with a filter, a page of the service can be short although more orders follow. */
import { once } from "node:events";
import * as v from "valibot";
import type { ORDER_STATUSES } from "../../worker/db/values.ts";
import { exactNumber } from "../../worker/exact-json.ts";
import { printableData } from "../printable.ts";
import { arrayOf, pageOf, pagesOf } from "./answers.ts";
import { bodyOf, type Session, untyped } from "./session.ts";

export type OrderStatus = (typeof ORDER_STATUSES)[number];

export type OrderQuery = { status?: OrderStatus; petId?: string; limit: string; after?: string };

/** Numbers above 2^53 keep their digits as `JSON.rawJSON` objects. */
const pageShape = v.object({ orders: arrayOf(v.looseObject({ id: v.unknown() })), ...pageOf(v.string()) });

/** The largest page that the service has. */
const MAX_PAGE_ORDERS = 500;

/** The first `query.limit` orders that match, as the JSON text of one page. */
export async function fetchOrders(session: Session, query: OrderQuery): Promise<string> {
  const limit = Number(query.limit);
  const orders: { id: unknown }[] = [];
  let next: string | null = null;
  for await (const page of orderPages(session, query)) {
    orders.push(...page.orders);
    next = page.next;
    if (orders.length >= limit) break;
  }
  const shown = orders.slice(0, limit);
  const after = shown.length < orders.length ? JSON.stringify(shown.at(-1)?.id) : next;
  return JSON.stringify({ orders: shown, next: after });
}

/** Prints all orders as NDJSON, as `orders import` reads them, and then how many on standard error. */
export async function exportOrders(session: Session): Promise<void> {
  const { stdout, stderr, interruption: signal } = session.io;
  let count = 0;
  for await (const { orders } of orderPages(session, { limit: String(MAX_PAGE_ORDERS) })) {
    const lines = orders.map((order) => `${JSON.stringify(order)}\n`).join("");
    if (!stdout.write(printableData(lines))) await once(stdout, "drain", { signal });
    if (stdout.errored) return; // main.ts says so
    count += orders.length;
  }
  stderr.write(`${count} orders\n`);
}

function orderPages({ client, access }: Session, query: OrderQuery) {
  const first = { ...query, limit: String(Math.min(Number(query.limit), MAX_PAGE_ORDERS)) };
  return pagesOf((after: string | null) => {
    const page = after === null ? first : { ...query, after, limit: String(MAX_PAGE_ORDERS) };
    return bodyOf(access, untyped(client.orders.$get({ query: page })), pageShape, exactNumber);
  });
}
