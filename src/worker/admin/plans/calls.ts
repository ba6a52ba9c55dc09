/** The calls about plans: their limits, which keys share. */
import * as v from "valibot";
import { openDatabase } from "../../db/database.ts";
import { call } from "../call.ts";
import { effective } from "../http/answers.ts";
import { limits } from "../http/schemas.ts";
import { planView } from "./schema.ts";
import { requirePlan, updatePlan } from "./service.ts";
import { listPlans } from "./sql.ts";

const PRO: v.InferInput<typeof planView> = {
  id: "pro",
  requestsPerMinute: 300,
  requestsPerDay: 10_000,
  keys: 12,
  version: 1,
};

export const planCalls = [
  call({
    id: "plans.list",
    route: "GET /plans",
    summary: "List the plans",
    answer: v.strictObject({ plans: v.array(planView) }),
    example: { answer: { plans: [PRO] } },
    run: async ({ env }) => ({ plans: await listPlans(openDatabase(env.DB)) }),
  }),

  call({
    id: "plans.show",
    route: "GET /plans/:id",
    summary: "Show a plan",
    answer: planView,
    example: { answer: PRO },
    run: ({ env, id }) => requirePlan(openDatabase(env.DB), id),
  }),

  call({
    id: "plans.update",
    route: "PATCH /plans/:id",
    summary: "Change the limits of a plan",
    description:
      "Members that are absent stay as they are. Null removes a limit: then each key of the plan must have its own.",
    asks: "Each key of the plan that has no limits of its own gets the new ones.",
    body: v.strictObject(limits),
    answer: v.strictObject({ ...planView.entries, effective }),
    example: {
      body: { requestsPerMinute: 600 },
      answer: { ...PRO, requestsPerMinute: 600, version: 2, effective: "immediately" },
    },
    conflict: "A key of the plan has no limit of its own, and would have none.",
    run: ({ env, id, body, author, expected }) => updatePlan(env, id, body, author, expected),
  }),
];
