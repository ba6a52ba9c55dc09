/** The calls about customers: the owners of keys, and how close they come to their limits. */
import type * as v from "valibot";
import { call, type Shown } from "../call.ts";
import type { CsvTable } from "../http/csv.ts";
import { fromCursor, isSortValue, toCursor } from "../http/cursor.ts";
import { directionOf } from "../usage/schema.ts";
import { customerPage, customerQuery } from "./schema.ts";
import { findCustomers } from "./service.ts";

export const customerCalls = {
  list: call({
    id: "customers.list",
    route: "GET /customers",
    summary: "List the customers",
    description:
      "The owners of keys, and how close they come to their limits of the day, over 1, 7 or 30 days.",
    query: customerQuery,
    answer: customerPage,
    example: {
      answer: {
        days: 30,
        from: "2026-10-23T00:00:00Z",
        to: "2026-11-21T11:00:00Z",
        asOf: "2026-11-21T09:00:00Z",
        customers: [
          {
            owner: "Pet Shop",
            ownerEmail: "ops@petshop.example",
            plans: ["pro"],
            keyCount: 2,
            admitted: 214_000,
            refused: 318,
            refusedWhileBanned: 0,
            medianPercent: 71.3,
            peakPercent: 100,
            peakDay: "2026-11-14",
            daysNear: 9,
            daysRefused: 4,
            bans: 0,
          },
        ],
        next: null,
      },
    },

    table: customerTable,
    run: async ({ env, query }) => {
      const { days, sort, after, limit } = query;
      const direction = directionOf(query);
      const order = `customers of ${days} days by ${sort} ${direction}`;
      const page = { sort, direction, limit, after: fromCursor(order, after, isSortValue) };
      const customers = await findCustomers(env, Number(days), page);
      return { ...customers, next: toCursor(order, customers.next) };
    },
  }),
};

function customerTable({ days, to, customers, next }: Shown<v.InferOutput<typeof customerPage>>): CsvTable {
  return {
    file: `customers-${days}-days-to-${to.slice(0, 10)}`,
    columns: [
      ...["owner", "ownerEmail", "plans", "keyCount", "admitted", "refused", "refusedWhileBanned"],
      ...["medianPercent", "peakPercent", "peakDay", "daysNear", "daysRefused", "bans"],
    ],
    rows: customers,
    next,
  };
}
