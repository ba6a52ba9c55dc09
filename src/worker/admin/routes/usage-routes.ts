/** `/admin/usage` and `/admin/keys/{id}/usage`: usage of a day by key, plan and hour, and of a key by day and hour. */
import { Hono } from "hono";
import type { AppEnv } from "../../context.ts";
import { findUsageOfKey } from "../key-usage-service.ts";
import { findUsageOfDay } from "../usage-service.ts";
import { dayUsageQuery, keyUsageQuery } from "./request-schemas.ts";
import { queryOf } from "./request-validation.ts";
import { dayUsageAsCsv, keyUsageAsCsv } from "./usage-csv.ts";

export const dayUsageRoutes = new Hono<AppEnv>().get("/", queryOf(dayUsageQuery), dayUsageAsCsv, async (c) =>
  c.json(await findUsageOfDay(c.env, c.req.valid("query"))),
);

export const keyUsageRoutes = new Hono<AppEnv>().get(
  "/:id/usage",
  queryOf(keyUsageQuery),
  keyUsageAsCsv,
  async (c) => c.json(await findUsageOfKey(c.env, c.req.param("id"), c.req.valid("query"))),
);
