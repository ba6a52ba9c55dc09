/** `/admin/usage` and `/admin/keys/{id}/usage`: the usage of a range by hour, day, key, owner or plan, and of one key. */
import { Hono } from "hono";
import type * as v from "valibot";
import type { AppEnv, Bindings } from "../../context.ts";
import { fromCursor, isSortValue, toCursor } from "../http/cursor.ts";
import { queryOf } from "../http/request-validation.ts";
import { keyUsageAsCsv, usageAsCsv } from "./csv.ts";
import { directionOf, keyUsageQuery, usageQuery } from "./schema.ts";
import { findUsage, findUsageOfKey } from "./service.ts";

export const usageRoutes = new Hono<AppEnv>().get("/", queryOf(usageQuery), usageAsCsv, async (c) =>
  c.json(await usagePage(c.env, c.req.valid("query"))),
);

export const keyUsageRoutes = new Hono<AppEnv>().get(
  "/:id/usage",
  queryOf(keyUsageQuery),
  keyUsageAsCsv,
  async (c) => {
    const { format: _, ...query } = c.req.valid("query");
    return c.json(await findUsageOfKey(c.env, c.req.param("id"), query));
  },
);

/** With the cursor of the next page. */
export async function usagePage(env: Bindings, query: v.InferOutput<typeof usageQuery>) {
  const { after, format: _, ...rest } = query;
  const direction = directionOf(query);
  const { by, sort } = rest;
  const order = by === "hour" || by === "day" ? `usage by ${by}` : `usage by ${by} ${sort} ${direction}`;
  const position = fromCursor(order, after, isSortValue);
  const usage = await findUsage(env, { ...rest, direction, after: position });
  return { ...usage, next: toCursor(order, usage.next) };
}
