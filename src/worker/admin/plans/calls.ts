/** The calls about plans: their limits, which keys share. */
import * as v from "valibot";
import { openDatabase } from "../../db/database.ts";
import { call } from "../call.ts";
import { requireTarget } from "../change.ts";
import { tableOf } from "../http/csv.ts";
import { format } from "../http/schemas.ts";
import { previewPlan, updatePlan } from "./change.ts";
import { planList, planUpdate, planView, updatedPlan } from "./schema.ts";
import { listPlans, planTarget } from "./sql.ts";

export const planCalls = {
  list: call({
    id: "plans.list",
    route: "GET /plans",
    summary: "List the plans",
    description: "Each plan has its limits, the number of its keys, and when they cause alerts.",
    query: v.strictObject({ format }),
    answer: planList,
    run: async ({ env }) => ({ plans: await listPlans(openDatabase(env.DB)) }),
    table: tableOf("plans", planView),
  }),

  show: call({
    id: "plans.show",
    route: "GET /plans/:id",
    summary: "Show a plan",
    description: "Its limits, the number of its keys, and when they cause alerts.",
    answer: planView,
    run: ({ env, id }) => requireTarget(openDatabase(env.DB), planTarget(id)),
  }),

  update: call({
    id: "plans.update",
    route: "PATCH /plans/:id",
    summary: "Change the limits of a plan, or when its keys cause alerts",
    description:
      "Members that are absent stay as they are. Null removes a limit: then each key of the plan must have its own.",
    asks: "Each key of the plan that has no limits of its own gets the new ones.",
    body: planUpdate,
    answer: updatedPlan,
    example: { requestsPerMinute: 600 },
    conflict: "A key of the plan has no limit of its own, and would have none.",
    preview: previewPlan,
    run: updatePlan,
  }),
};
