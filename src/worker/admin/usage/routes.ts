/** `/admin/usage` and `/admin/keys/{id}/usage`: the usage of a range by hour, day, key, owner or plan, and of one key. */
import { Hono } from "hono";
import type * as v from "valibot";
import type { AppEnv, Bindings } from "../../context.ts";
import { csvAnswer } from "../http/csv.ts";
import { fromCursor, isSortValue, toCursor } from "../http/cursor.ts";
import { queryOf } from "../http/request-validation.ts";
import { keyUsageTable, usageTable } from "./csv.ts";
import { directionOf, keyUsageQuery, usageQuery } from "./schema.ts";
import { findUsage, findUsageOfKey } from "./service.ts";

export const usageRoutes = new Hono<AppEnv>().get("/", queryOf(usageQuery), async (c) => {
  const query = c.req.valid("query");
  const usage = await usagePage(c.env, query);
  return query.format === "csv" ? csvAnswer(c, usageTable(usage)) : c.json(usage);
});

export const keyUsageRoutes = new Hono<AppEnv>().get("/:id/usage", queryOf(keyUsageQuery), async (c) => {
  const { format, ...query } = c.req.valid("query");
  const usage = await findUsageOfKey(c.env, c.req.param("id"), query);
  return format === "csv" ? csvAnswer(c, keyUsageTable(usage)) : c.json(usage);
});

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
