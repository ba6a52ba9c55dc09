/** The default plans. An operator can change the plans of an instance, so the document calls these the defaults. Pure. */
import type { PLAN_IDS } from "../worker/db/values.ts";

export type PlanId = (typeof PLAN_IDS)[number];

/** Null: custom, set for each key. A test compares this table with the migrated database. */
export const DEFAULT_PLANS: Readonly<
  Record<PlanId, { name: string; requestsPerMinute: number | null; requestsPerDay: number | null }>
> = {
  free: { name: "Free", requestsPerMinute: 60, requestsPerDay: 1_000 },
  pro: { name: "Pro", requestsPerMinute: 300, requestsPerDay: 10_000 },
  business: { name: "Business", requestsPerMinute: 1_000, requestsPerDay: 100_000 },
  enterprise: { name: "Enterprise", requestsPerMinute: null, requestsPerDay: null },
};
