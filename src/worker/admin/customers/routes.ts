/** `/admin/customers`: the owners of keys, and how close they come to their limits. */
import { Hono } from "hono";
import type * as v from "valibot";
import type { AppEnv, Bindings } from "../../context.ts";
import { csvAnswer, type Table } from "../http/csv.ts";
import { fromCursor, isSortValue, toCursor } from "../http/cursor.ts";
import { queryOf } from "../http/request-validation.ts";
import { directionOf } from "../usage/schema.ts";
import { customerQuery } from "./schema.ts";
import { type Customers, findCustomers } from "./service.ts";

type CustomerPage = Omit<Customers, "next"> & { readonly next: string | null };

export const customerTable = ({ days, to, customers, next }: CustomerPage): Table => ({
  file: `customers-${days}-days-to-${to.slice(0, 10)}`,
  columns: [
    ...["owner", "ownerEmail", "plans", "keyCount", "admitted", "refused", "refusedWhileBanned"],
    ...["medianPercent", "peakPercent", "peakDay", "daysNear", "daysRefused", "bans"],
  ],
  rows: customers,
  next,
});

export const customerRoutes = new Hono<AppEnv>().get("/", queryOf(customerQuery), async (c) => {
  const query = c.req.valid("query");
  const page = await customerPage(c.env, query);
  return query.format === "csv" ? csvAnswer(c, customerTable(page)) : c.json(page);
});

/** With the cursor of the next page. */
export async function customerPage(env: Bindings, query: v.InferOutput<typeof customerQuery>) {
  const { days, sort, after, limit } = query;
  const direction = directionOf(query);
  const order = `customers of ${days} days by ${sort} ${direction}`;
  const page = { sort, direction, limit, after: fromCursor(order, after, isSortValue) };
  const customers = await findCustomers(env, Number(days), page);
  return { ...customers, next: toCursor(order, customers.next) };
}
