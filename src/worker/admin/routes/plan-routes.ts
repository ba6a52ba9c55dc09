/** `/admin/plans`: lists the plans and changes their limits. */
import { Hono } from "hono";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { listPlans } from "../../db/plan-repository.ts";
import { updatePlan } from "../plan-service.ts";
import { planUpdate } from "./request-schemas.ts";
import { jsonBody } from "./request-validation.ts";

export const planRoutes = new Hono<AppEnv>()
  .get("/", async (c) => c.json({ plans: await listPlans(openDatabase(c.env.DB)) }))

  .patch("/:id", jsonBody(planUpdate), async (c) =>
    c.json(await updatePlan(c.env, c.req.param("id"), c.req.valid("json"), c.var.author)),
  );
