/** The default plans. Operators can change the plans of an instance, so the document says "default". */
import type { PLAN_IDS } from "../worker/db/values.ts";

export type PlanId = (typeof PLAN_IDS)[number];

/** Null: each key of the plan has its own limits. A test compares this table with the migrated database. */
export const DEFAULT_PLANS: Readonly<
  Record<PlanId, { name: string; requestsPerMinute: number | null; requestsPerDay: number | null }>
> = {
  free: { name: "Free", requestsPerMinute: 60, requestsPerDay: 1_000 },
  pro: { name: "Pro", requestsPerMinute: 300, requestsPerDay: 10_000 },
  business: { name: "Business", requestsPerMinute: 1_000, requestsPerDay: 100_000 },
  enterprise: { name: "Enterprise", requestsPerMinute: null, requestsPerDay: null },
};
