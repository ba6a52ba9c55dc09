/** `/admin/plans`: the plans' limits. */
import { Hono } from "hono";
import type { AppEnv, Bindings } from "../../context.ts";
import { audit } from "../../db/audit-repository.ts";
import { type Database, openDatabase } from "../../db/database.ts";
import { changePlan, getPlan, listPlans, versionsOfPlan } from "../../db/plan-repository.ts";
import { ApiError } from "../../errors.ts";
import { dayName } from "../../limiter/core/limiter-state.ts";
import { DAY_MS } from "../../limiter/core/quota.ts";
import { raiseMinVersion } from "../../limiter/limiter-admin-client.ts";
import { effective } from "../effective.ts";
import { CONSTRAINT_MESSAGES, conflictOn } from "../write-conflict.ts";
import { planChanges } from "./request-schemas.ts";
import { invalid, jsonBody } from "./request-validation.ts";

/** Up to this many of a plan's keys hear of the change at once; with more it takes effect for the rest when the caches have run out. */
const MAX_KEYS_NOTIFIED = 500;
const MAX_CONCURRENT_NOTIFICATIONS = 20;

export const planRoutes = new Hono<AppEnv>()
  .get("/", async (c) => c.json({ plans: await listPlans(openDatabase(c.env.DB)) }))

  .patch("/:id", jsonBody(planChanges), async (c) => {
    const db = openDatabase(c.env.DB);
    const before = await existingPlan(db, c.req.param("id"));
    const changes = c.req.valid("json");
    if (Object.keys(changes).length === 0) throw invalid("The body changes nothing.");
    await conflictOn(
      CONSTRAINT_MESSAGES.planKeepsLimits,
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
    return c.json({ ...(await existingPlan(db, before.id)), effective: effective(told) });
  });

async function existingPlan(db: Database, id: string) {
  const plan = await getPlan(db, id);
  if (!plan) throw new ApiError("not_found", "No plan has this id.");
  return plan;
}

/** Whether every key whose record may be cached somewhere was told. */
async function tellKeysOf(env: Bindings, db: Database, plan: string): Promise<boolean> {
  const keys = await versionsOfPlan(db, plan, dayName(Date.now() - DAY_MS), MAX_KEYS_NOTIFIED + 1);
  let allHeard = keys.length <= MAX_KEYS_NOTIFIED;
  for (
    let start = 0;
    start < Math.min(keys.length, MAX_KEYS_NOTIFIED);
    start += MAX_CONCURRENT_NOTIFICATIONS
  ) {
    const batch = keys.slice(start, Math.min(start + MAX_CONCURRENT_NOTIFICATIONS, MAX_KEYS_NOTIFIED));
    const heard = await Promise.all(batch.map((key) => raiseMinVersion(env, key.id, key.version)));
    allHeard &&= heard.every(Boolean);
  }
  return allHeard;
}
