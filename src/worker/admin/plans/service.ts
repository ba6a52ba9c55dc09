/** Changes a plan's limits, and notifies the limiters of the plan's keys. */
import type { Bindings } from "../../context.ts";
import { type Database, openDatabase, transact } from "../../db/database.ts";
import { invalidRequest, notFound } from "../../errors.ts";
import { inBatches } from "../../in-batches.ts";
import { forgetPolicy } from "../../limit.ts";
import { logError } from "../../log.ts";
import { type Audited, type Author, audit, type Change, isAudited } from "../audit/sql.ts";
import { type Effective, effective } from "../effective.ts";
import { requireVersion } from "../precondition.ts";
import { conflictOnMissingLimit } from "../write-conflict.ts";
import type { PlanView } from "./schema.ts";
import {
  findPlan,
  type LimitChanges,
  listUsedKeysOfPlan,
  planExists,
  selectPlan,
  selectPlanMembers,
  updatePlanRow,
} from "./sql.ts";

/** The limiters of up to this many of a plan's keys are notified. For other keys the change takes effect once their policies are too old. */
export const MAX_KEYS_NOTIFIED = 500;
export const MAX_CONCURRENT_NOTIFICATIONS = 20;

const NO_PLAN = "No plan has this id.";
const LIMIT_NEEDED = "A key of this plan has no limit of its own and relies on the plan's.";

export async function requirePlan(db: Database, id: string): Promise<PlanView> {
  const plan = await findPlan(db, id);
  if (!plan) throw notFound(NO_PLAN);
  return plan;
}

export async function updatePlan(
  env: Bindings,
  id: string,
  changes: LimitChanges,
  author: Author,
  expectedVersion?: number,
): Promise<PlanView & { effective: Effective }> {
  const db = openDatabase(env.DB);
  if (Object.keys(changes).length === 0) throw invalidRequest("This changes nothing.");
  const change: Change = {
    call: "plans.update",
    object: id,
    before: selectPlanMembers(id, Object.keys(changes)),
    after: changes,
  };
  const updated = transact<[Audited, never, PlanView]>(db, [
    audit(db, author, change, planExists(id, expectedVersion)),
    updatePlanRow(db, id, changes, isAudited(author, change)),
    selectPlan(id),
  ]);
  const [[audited], , [plan]] = await conflictOnMissingLimit(LIMIT_NEEDED, updated);
  if (!plan) throw notFound(NO_PLAN);
  if (!audited) requireVersion(plan, expectedVersion);
  return { ...plan, effective: effective(env, await notifyKeysOf(env, db, id)) };
}

/** Whether the limiter of every used key of the plan was told. The change is stored: a failed read does not fail it. */
async function notifyKeysOf(env: Bindings, db: Database, plan: string): Promise<boolean> {
  const used = await listUsedKeysOfPlan(db, plan, MAX_KEYS_NOTIFIED + 1).catch((thrown: unknown) => {
    logError("plan_keys_not_notified", thrown, { plan });
  });
  if (!used) return false;
  const notified = await inBatches(used.slice(0, MAX_KEYS_NOTIFIED), MAX_CONCURRENT_NOTIFICATIONS, (key) =>
    forgetPolicy(env, key),
  );
  return used.length <= MAX_KEYS_NOTIFIED && notified.every(Boolean);
}
