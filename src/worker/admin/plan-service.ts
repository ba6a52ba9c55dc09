/** Changes a plan's limits, and notifies the limiters of the plan's keys. */
import type { Bindings } from "../context.ts";
import { type Author, audit, type Change } from "../db/audit-repository.ts";
import { type Database, openDatabase, transact } from "../db/database.ts";
import {
  type LimitChanges,
  listUsedKeysOfPlan,
  type PlanView,
  planExists,
  selectPlan,
  selectPlanMembers,
  updatePlanRow,
} from "../db/plan-repository.ts";
import { invalidRequest, notFound } from "../errors.ts";
import { inBatches } from "../in-batches.ts";
import { dayName } from "../limiter/core/limiter-state.ts";
import { DAY_MS } from "../limiter/core/quota.ts";
import { raiseMinVersion } from "../limiter/limiter-admin-client.ts";
import { logError } from "../log.ts";
import { type Effective, effective } from "./effective.ts";
import { conflictOnMissingLimit } from "./write-conflict.ts";

/** The limiters of up to this many of a plan's keys are notified. For other keys the change takes effect within 60 seconds. */
export const MAX_KEYS_NOTIFIED = 500;
export const MAX_CONCURRENT_NOTIFICATIONS = 20;

const LIMIT_NEEDED = "A key of this plan has no limit of its own and relies on the plan's.";

export async function updatePlan(
  env: Bindings,
  id: string,
  changes: LimitChanges,
  author: Author,
): Promise<PlanView & { effective: Effective }> {
  const db = openDatabase(env.DB);
  if (Object.keys(changes).length === 0) throw invalidRequest("The body changes nothing.");
  const change: Change = {
    call: "plans.update",
    object: id,
    before: selectPlanMembers(id, Object.keys(changes)),
    after: changes,
  };
  const updated = transact<[never, never, PlanView]>(db, [
    audit(db, author, change, planExists(id)),
    updatePlanRow(db, id, changes),
    selectPlan(id),
  ]);
  const [, , [plan]] = await conflictOnMissingLimit(LIMIT_NEEDED, updated);
  if (!plan) throw notFound("No plan has this id.");
  return { ...plan, effective: effective(await notifyKeysOf(env, db, id)) };
}

/** Whether the limiter of every key whose record may be cached was notified. The change is stored: a failed read does not fail it. */
async function notifyKeysOf(env: Bindings, db: Database, plan: string): Promise<boolean> {
  const nowMs = Date.now();
  const days = [dayName(nowMs), dayName(nowMs - DAY_MS)];
  const used = await listUsedKeysOfPlan(db, plan, days, MAX_KEYS_NOTIFIED).catch((thrown: unknown) => {
    logError("plan_keys_not_notified", thrown, { plan });
  });
  if (!used) return false;
  const { keys, areAll } = used;
  const notified = await inBatches(keys, MAX_CONCURRENT_NOTIFICATIONS, (key) =>
    raiseMinVersion(env, { ...key, isUsed: true }),
  );
  return areAll && notified.every(Boolean);
}
