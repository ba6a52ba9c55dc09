/** Changes a plan's limits, and notifies the limiters of the plan's keys. */
import type { Bindings } from "../context.ts";
import { type Author, audit } from "../db/audit-repository.ts";
import { type Database, openDatabase, transact } from "../db/database.ts";
import {
  findPlanLimits,
  type LimitChanges,
  listUsedKeysOfPlan,
  type PlanView,
  selectPlan,
  updatePlanRow,
} from "../db/plan-repository.ts";
import { invalidRequest, notFound } from "../errors.ts";
import { inBatches } from "../in-batches.ts";
import { dayName } from "../limiter/core/limiter-state.ts";
import { DAY_MS } from "../limiter/core/quota.ts";
import { raiseMinVersion } from "../limiter/limiter-admin-client.ts";
import { type Effective, effective } from "./effective.ts";
import { conflictOnMissingLimit } from "./write-conflict.ts";

/** The limiters of up to this many of a plan's keys are notified. For other keys the change takes effect within 60 seconds. */
export const MAX_KEYS_NOTIFIED = 500;
export const MAX_CONCURRENT_NOTIFICATIONS = 20;

export async function updatePlan(
  env: Bindings,
  id: string,
  changes: LimitChanges,
  author: Author,
): Promise<PlanView & { effective: Effective }> {
  const db = openDatabase(env.DB);
  const before = await findPlanLimits(db, id);
  if (!before) throw notFound("No plan has this id.");
  if (Object.keys(changes).length === 0) throw invalidRequest("The body changes nothing.");
  const updated = transact<[never, never, PlanView]>(db, [
    updatePlanRow(db, id, changes),
    audit(db, author, { call: "plans.update", object: id, before, after: changes }),
    selectPlan(id),
  ]);
  const message = "A key of this plan has no limit of its own and relies on the plan's.";
  const [, , [plan]] = await conflictOnMissingLimit(message, updated);
  if (!plan) throw new Error("the batch found no plan"); // plans are never deleted
  return { ...plan, effective: effective(await notifyKeysOf(env, db, id)) };
}

/** Whether the limiter of every key whose record may be cached was notified. */
async function notifyKeysOf(env: Bindings, db: Database, plan: string): Promise<boolean> {
  const nowMs = Date.now();
  const days = [dayName(nowMs), dayName(nowMs - DAY_MS)];
  const { keys, areAll } = await listUsedKeysOfPlan(db, plan, days, MAX_KEYS_NOTIFIED);
  const notified = await inBatches(keys, MAX_CONCURRENT_NOTIFICATIONS, (key) =>
    raiseMinVersion(env, { ...key, isUsed: true }),
  );
  return areAll && notified.every(Boolean);
}
