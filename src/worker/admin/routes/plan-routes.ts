/** `/admin/plans`: lists the plans and changes their limits. */
import { Hono } from "hono";
import type { AppEnv } from "../../context.ts";
import { openDatabase } from "../../db/database.ts";
import { listPlans } from "../../db/plan-repository.ts";
import { previewPlan, updatePlan } from "../plan-service.ts";
import { planChangeQuery, planUpdate } from "./request-schemas.ts";
import { jsonBody, queryOf } from "./request-validation.ts";

export const planRoutes = new Hono<AppEnv>()
  .get("/", async (c) => c.json({ plans: await listPlans(openDatabase(c.env.DB)) }))

  .patch("/:id", queryOf(planChangeQuery), jsonBody(planUpdate), async (c) => {
    const [id, changes] = [c.req.param("id"), c.req.valid("json")];
    const isDryRun = c.req.valid("query")["dry-run"];
    return c.json(
      isDryRun ? await previewPlan(c.env, id, changes) : await updatePlan(c.env, id, changes, c.var.author),
    );
  });
