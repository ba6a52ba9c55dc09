/** Changes a plan's limits, and refreshes the limiters of the plan's keys. */
import type * as v from "valibot";
import { openDatabase } from "../../db/database.ts";
import { plans } from "../../db/schema.ts";
import { conflict, invalidRequest } from "../../platform/errors.ts";
import { counted, formatNumber, formatTime, planName } from "../../text/format.ts";
import { type ChangeInput, conflictOnMissingLimit, make, requireTarget, updateRow } from "../change.ts";
import { refreshAtOnce } from "../refresh-limiters.ts";
import { countedUntil, lastDays } from "../usage/service.ts";
import { alertsAt, LIMITS, limitChange, type PlanUpdate, type updatedPlan } from "./schema.ts";
import { countKeysOver, findRelyingKeys, type LimitChanges, planTarget } from "./sql.ts";

const LIMIT_NEEDED = "A key of this plan has no limit of its own and relies on the plan's.";

export async function updatePlan(input: ChangeInput<PlanUpdate>): Promise<v.InferOutput<typeof updatedPlan>> {
  const { env, id, body } = input;
  refuseNoChange(body);
  const updated = make(input, planTarget(id), {
    call: "plans.update",
    before: Object.keys(body),
    after: body,
    // The database refuses to remove a limit that a key relies on.
    statements: [updateRow(plans, id, { ...body, alertPercents: jsonOf(body.alertPercents) })],
  });
  const { now } = await conflictOnMissingLimit(LIMIT_NEEDED, updated);
  return { ...now, effective: await refreshAtOnce(env, { plan: id }) };
}

/** D1 has only the requests of hours that limiters have reported, so the preview says until when. */
export async function previewPlan(input: ChangeInput<PlanUpdate>): Promise<string[]> {
  const { env, author, id, body, expected } = input;
  refuseNoChange(body);
  const db = openDatabase(env.DB);
  const plan = await requireTarget(db, planTarget(id), expected);
  const relying = await findRelyingKeys(db, id);
  const keys = counted(relying.keys, "key");
  const changes = LIMITS.flatMap((name) => {
    const limit = body[name];
    if (limit === undefined) return [];
    if (limit === null && relying[name] > 0) throw conflict(LIMIT_NEEDED);
    const without = `${formatNumber(relying[name])} of ${keys} of the plan ${planName(id)}`;
    return [
      `${limitChange(name, plan[name], limit)}, for ${without}: the keys without a limit of their own.`,
    ];
  });
  if (body.alertPercents !== undefined)
    changes.push(`Alerts: ${alertsAt(plan.alertPercents)} → ${alertsAt(body.alertPercents)} of the day.`);
  const { requestsPerDay: limit } = body;
  if (typeof limit !== "number" || limit >= (plan.requestsPerDay ?? 0)) return changes;
  const over = await countKeysOver(db, id, limit, author.at);
  const used = `${formatNumber(limit)} requests or more today, by ${formatTime(countedUntil(lastDays(1)))}`;
  if (over === 0) return [...changes, `No key used ${used}.`];
  return [
    ...changes,
    `${counted(over, "key")} used ${used}: further requests are refused until midnight UTC.`,
  ];
}

function jsonOf(value: PlanUpdate["alertPercents"]): string | null | undefined {
  return value ? JSON.stringify(value) : value;
}

function refuseNoChange(body: LimitChanges): void {
  if (Object.keys(body).length === 0) throw invalidRequest("This changes nothing.");
}
