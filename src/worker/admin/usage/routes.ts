/** `/admin/usage` and `/admin/keys/{id}/usage`: usage of a day by key, plan and hour, and of a key by day and hour. */
import { Hono } from "hono";
import type { AppEnv } from "../../context.ts";
import { fromCursor, toCursor } from "../http/cursor.ts";
import { queryOf } from "../http/request-validation.ts";
import { dayUsageAsCsv, keyUsageAsCsv } from "./csv.ts";
import { dayUsageQuery, keyUsageQuery } from "./schema.ts";
import { findUsageOfDay, findUsageOfKey } from "./service.ts";

export const dayUsageRoutes = new Hono<AppEnv>().get(
  "/",
  queryOf(dayUsageQuery),
  dayUsageAsCsv,
  async (c) => {
    const { after, day, sort, limit } = c.req.valid("query");
    // Pages exist of past days only, so a cursor is of a day that the query names.
    const order = `usage of ${day} by ${sort}`;
    const position = fromCursor(order, after, (value) => typeof value === "number");
    const usage = await findUsageOfDay(c.env, { day, sort, limit, after: position });
    return c.json({ ...usage, next: toCursor(order, usage.next) });
  },
);

export const keyUsageRoutes = new Hono<AppEnv>().get(
  "/:id/usage",
  queryOf(keyUsageQuery),
  keyUsageAsCsv,
  async (c) => c.json(await findUsageOfKey(c.env, c.req.param("id"), c.req.valid("query"))),
);
