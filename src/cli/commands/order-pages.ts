/** Lists orders over several pages: with a filter, a page of the service can be short although more orders follow. */
import type { ORDER_STATUSES } from "../../worker/db/values.ts";
import { exactNumber, parseExactJson } from "../../worker/exact-json.ts";
import { answerOf, type Session } from "./session.ts";

export type OrderStatus = (typeof ORDER_STATUSES)[number];

export type OrderQuery = { status?: OrderStatus; petId?: string; limit: string; after?: string };

/** An order as the service's JSON has it. Numbers above 2^53 keep their digits as `JSON.rawJSON` objects. */
type Page = { orders: { id: unknown }[]; next: string | null };

/** The largest page that the service has. */
const MAX_PAGE_ORDERS = 500;

/** The first `query.limit` orders that match, as the JSON text of one page. */
export async function fetchOrders(session: Session, query: OrderQuery): Promise<string> {
  const limit = Number(query.limit);
  const first = await fetchPage(session, { ...query, limit: String(Math.min(limit, MAX_PAGE_ORDERS)) });
  const orders = [...first.orders];
  let next = first.next;
  while (next !== null && orders.length < limit) {
    const page = await fetchPage(session, { ...query, after: next, limit: String(MAX_PAGE_ORDERS) });
    orders.push(...page.orders);
    next = page.next;
  }
  const shown = orders.slice(0, limit);
  const after = shown.length < orders.length ? JSON.stringify(shown.at(-1)?.id) : next;
  return JSON.stringify({ orders: shown, next: after });
}

async function fetchPage({ client, access }: Session, query: OrderQuery): Promise<Page> {
  const text = await answerOf(access, client.orders.$get({ query }));
  return parseExactJson(text, exactNumber) as Page; // `answerOf` throws unless the service answered with a page
}
