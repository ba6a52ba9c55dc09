/** The calls about usage: of a range by hour, day or key. By customer: `customers.list`. */
import { call } from "../call.ts";
import { columnsOf, fileOfRange } from "../http/csv.ts";
import { nearAnswer, nearQuery, USAGE_ROWS, usageAnswer, usageQuery } from "./schema.ts";
import { findNear, findUsage } from "./service.ts";

export const usageCalls = {
  list: call({
    id: "usage.list",
    route: "GET /usage",
    summary: "Show the usage of a range",
    description:
      "By hour, day or key, and by customer in `GET /customers`: a day belongs to the customer and the plan that its key had at its first report. Without `from` the range begins at midnight, without `to` it ends now; it is rounded out to whole days, or by hour to whole hours. A limiter reports the first request of a day, whenever the day's figures have grown by a quarter, and once an hour. `sort=near` begins with those who come closest to their limit of the day.",
    query: usageQuery,
    answer: usageAnswer,

    run: ({ env, query }) => findUsage(env, query),
    table: ({ by, rows, next, ...range }) => ({
      file: fileOfRange(`usage-by-${by}`, range),
      columns: columnsOf(USAGE_ROWS[by]),
      rows,
      next,
    }),
  }),

  near: call({
    id: "usage.near",
    route: "GET /usage/near",
    summary: "Show who is near a limit of the day",
    description:
      "Keys that are near their limit of the day, and keys that often were. It reads few rows, however many keys there are.",
    query: nearQuery,
    answer: nearAnswer,
    run: ({ env, query }) => findNear(env, query.limit),
  }),
};
