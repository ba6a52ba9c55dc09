/** `/admin/usage` and `/admin/keys/{id}/usage`: usage of a day by key, and of a key by day. */
import { Hono } from "hono";
import type { AppEnv } from "../../context.ts";
import { findUsageOfDay, findUsageOfKey } from "../usage-service.ts";
import { dayUsageQuery, keyUsageQuery } from "./request-schemas.ts";
import { queryOf } from "./request-validation.ts";

export const dayUsageRoutes = new Hono<AppEnv>().get("/", queryOf(dayUsageQuery), async (c) =>
  c.json(await findUsageOfDay(c.env, c.req.valid("query"))),
);

export const keyUsageRoutes = new Hono<AppEnv>().get("/:id/usage", queryOf(keyUsageQuery), async (c) =>
  c.json(await findUsageOfKey(c.env, c.req.param("id"), c.req.valid("query").days)),
);
