/** `/admin/plans`: lists the plans and changes their limits. */
import { Hono } from "hono";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { etag, ifMatch } from "../http/if-match.ts";
import { jsonBody } from "../http/request-validation.ts";
import { planUpdate } from "./schema.ts";
import { requirePlan, updatePlan } from "./service.ts";
import { listPlans } from "./sql.ts";

export const planRoutes = new Hono<AppEnv>()
  .get("/", async (c) => c.json({ plans: await listPlans(openDatabase(c.env.DB)) }))

  .get("/:id", async (c) => {
    const plan = await requirePlan(openDatabase(c.env.DB), c.req.param("id"));
    return c.json(plan, 200, etag(plan));
  })

  .patch("/:id", jsonBody(planUpdate), async (c) => {
    const plan = await updatePlan(c.env, c.req.param("id"), c.req.valid("json"), c.var.author, ifMatch(c));
    return c.json(plan, 200, etag(plan));
  });
