/** The call that finds things of all kinds. */
import { call } from "../call.ts";
import { findThings } from "./find.ts";
import { findQuery, foundThings } from "./schema.ts";

export const find = call({
  id: "find",
  route: "GET /find",
  summary: "Find keys, customers and orders by a text",
  description: "Up to 8 keys, 5 customers and an order. A secret is found by its id, and is never sent.",
  query: findQuery,
  answer: foundThings,

  run: ({ env, query }) => findThings(env, query.text),
});
