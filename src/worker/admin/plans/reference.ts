/** What the reference says of `/admin/plans`. */
import type * as v from "valibot";
import { describe, type Reference } from "../http/describe.ts";
import { planList, planView, updatedPlan } from "./schema.ts";

const PLAN: v.InferInput<typeof planView> = {
  id: "pro",
  requestsPerMinute: 300,
  requestsPerDay: 10_000,
  keys: 12,
  version: 1,
};

export const planReference: Reference = {
  "GET /plans": describe({
    id: "plans.list",
    summary: "List the plans",
    answer: planList,
    example: { plans: [PLAN] },
  }),
  "GET /plans/:id": describe({
    id: "plans.show",
    summary: "Show a plan",
    answer: planView,
    example: PLAN,
    etag: true,
  }),
  "PATCH /plans/:id": describe({
    id: "plans.update",
    summary: "Change the limits of a plan",
    description:
      "Members that are absent stay as they are. Null removes a limit: then each key of the plan must have its own.",
    body: { example: { requestsPerMinute: 600 } },
    answer: updatedPlan,
    example: { ...PLAN, requestsPerMinute: 600, version: 2, effective: "immediately" },
    etag: true,
    conflict: "A key of the plan has no limit of its own, and would have none.",
  }),
};
