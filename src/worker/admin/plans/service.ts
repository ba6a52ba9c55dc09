/** Changes a plan's limits, and tells the limiters of the plan's keys. */
import type { Bindings } from "../../context.ts";
import { type Database, openDatabase, transact } from "../../db/database.ts";
import { invalidRequest, notFound } from "../../errors.ts";
import { type Audited, type Author, audit, type Change, isAudited } from "../audit/sql.ts";
import { requireVersion } from "../precondition.ts";
import { type Effective, tellAtOnce } from "../tell-limiters.ts";
import { conflictOnMissingLimit } from "../write-conflict.ts";
import type { PlanView } from "./schema.ts";
import {
  findPlan,
  type LimitChanges,
  planExists,
  selectPlan,
  selectPlanMembers,
  updatePlanRow,
} from "./sql.ts";

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
  return { ...plan, effective: await tellAtOnce(env, { plan: id }) };
}
