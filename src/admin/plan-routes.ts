/** `/admin/plans`: the plans' limits. */
import { Hono } from "hono";
import { type Database, openDatabase } from "../db/database.ts";
import type { Bindings } from "../env.ts";
import { ApiError } from "../errors.ts";
import { changePlan, getPlan, listPlans, versionsOfPlan } from "../keys/plan-store.ts";
import { tellVersion } from "../limits/limiter-operator.ts";
import { dayName } from "../limits/limiter-state.ts";
import { DAY_MS } from "../limits/quota.ts";
import { audit } from "./audit-store.ts";
import { holds } from "./holds.ts";
import { GUARDS, guarded } from "./overtaken.ts";
import type { AdminEnv } from "./require-admin.ts";
import { planChanges } from "./schemas.ts";
import { invalid, jsonBody } from "./validation.ts";

/** Up to this many of a plan's keys hear of the change at once; with more it holds for the rest when the caches have run out. */
const MOST_KEYS_TOLD = 500;
const KEYS_TOLD_AT_ONCE = 20;

export const planRoutes = new Hono<AdminEnv>()
  .get("/", async (c) => c.json({ plans: await listPlans(openDatabase(c.env.DB)) }))

  .patch("/:id", jsonBody(planChanges), async (c) => {
    const db = openDatabase(c.env.DB);
    const before = await existingPlan(db, c.req.param("id"));
    const changes = c.req.valid("json");
    if (Object.keys(changes).length === 0) throw invalid("The body changes nothing.");
    await guarded(
      GUARDS.planKeepsLimits,
      "A key of this plan has no limit of its own and relies on the plan's.",
      db.batch([
        changePlan(db, before.id, changes),
        audit(db, c.var.author, {
          call: "plans.update",
          object: before.id,
          before: { requestsPerMinute: before.requestsPerMinute, requestsPerDay: before.requestsPerDay },
          after: changes,
        }),
      ]),
    );
    const told = await tellKeysOf(c.env, db, before.id);
    return c.json({ ...(await existingPlan(db, before.id)), holds: holds(told) });
  });

async function existingPlan(db: Database, id: string) {
  const plan = await getPlan(db, id);
  if (!plan) throw new ApiError("not_found", "No plan has this id.");
  return plan;
}

/** Whether every key whose record may be cached somewhere was told. */
async function tellKeysOf(env: Bindings, db: Database, plan: string): Promise<boolean> {
  const keys = await versionsOfPlan(db, plan, dayName(Date.now() - DAY_MS), MOST_KEYS_TOLD + 1);
  let allHeard = keys.length <= MOST_KEYS_TOLD;
  for (let start = 0; start < Math.min(keys.length, MOST_KEYS_TOLD); start += KEYS_TOLD_AT_ONCE) {
    const batch = keys.slice(start, Math.min(start + KEYS_TOLD_AT_ONCE, MOST_KEYS_TOLD));
    const heard = await Promise.all(batch.map((key) => tellVersion(env, key.id, key.version)));
    allHeard &&= heard.every(Boolean);
  }
  return allHeard;
}
