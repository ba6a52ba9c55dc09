/** The calls about a day: what happened to a key, or to the keys of a customer. */
import { openDatabase } from "../../db/database.ts";
import { call } from "../call.ts";
import { requireCustomer } from "../customers/sql.ts";
import { requireKey } from "../keys/sql.ts";
import { findDay } from "./find.ts";
import { dayAnswer, dayQuery } from "./schema.ts";

const description =
  "In the order of time: the minutes in which requests were refused and by which limit, bans, changes by operators, and the last use of each secret on that day.";

export const dayCalls = {
  key: call({
    id: "keys.day",
    route: "GET /keys/:id/day",
    summary: "Show a day of a key",
    description,
    query: dayQuery,
    answer: dayAnswer,
    run: async ({ env, id, query }) =>
      findDay(env, { key: (await requireKey(openDatabase(env.DB), id)).id }, query),
  }),

  customer: call({
    id: "customers.day",
    route: "GET /customers/:id/day",
    summary: "Show a day of a customer's keys",
    description,
    query: dayQuery,
    answer: dayAnswer,
    run: async ({ env, id, query }) =>
      findDay(env, { customer: (await requireCustomer(openDatabase(env.DB), id)).id }, query),
  }),
};
