/** Changes a plan's limits, and refreshes the limiters of the plan's keys. */
import { SQL, sql } from "drizzle-orm";
import type * as v from "valibot";
import { openDatabase } from "../../db/database.ts";
import { invalidRequest } from "../../platform/errors.ts";
import { counted, formatNumber, formatTime, planName } from "../../text/format.ts";
import { type ChangeInput, type ChangeOfRows, make, updateRows } from "../change.ts";
import { refreshAtOnce } from "../refresh-limiters.ts";
import { planRefusal } from "../refusal-sql.ts";
import { lastReports } from "../usage/ask-limiters.ts";
import { countedUntil, lastDays } from "../usage/service.ts";
import { alertsAt, LIMITS, limitChange, type PlanUpdate, type updatedPlan } from "./schema.ts";
import { countKeysOver, findRelyingKeys, PLANS, planTarget } from "./sql.ts";

/** The change of these members. `after` is a value, or SQL of a JSON text. */
export function planUpdateTo(names: readonly string[], after: unknown) {
  return {
    ...{ call: "plans.update", before: names, after },
    refused: planRefusal(after instanceof SQL ? after : sql`${JSON.stringify(after)}`),
    statements: (made) => [updateRows(PLANS, made, names)],
  } as const satisfies ChangeOfRows;
}

export async function updatePlan(input: ChangeInput<PlanUpdate>): Promise<v.InferOutput<typeof updatedPlan>> {
  const { env, id, body, isDryRun } = input;
  if (Object.keys(body).length === 0) throw invalidRequest("This changes nothing.");
  const { now, says } = await make(input, planTarget(id), planUpdateTo(Object.keys(body), body));
  const effective = isDryRun ? "immediately" : await refreshAtOnce(env, { plan: id });
  return { ...now, effective, says: says(effective) };
}

/** D1 has only the requests of hours that limiters have reported, so the preview says until when. */
export async function previewPlan(input: ChangeInput<PlanUpdate>): Promise<string[]> {
  const { env, author, id, body } = input;
  const plan = await updatePlan({ ...input, isDryRun: true });
  const db = openDatabase(env.DB);
  const relying = await findRelyingKeys(db, id);
  const keys = counted(relying.keys, "key");
  const changes = LIMITS.flatMap((name) => {
    const limit = body[name];
    if (limit === undefined) return [];
    const without = `${formatNumber(relying[name])} of ${keys} of the plan ${planName(id)}`;
    return [
      `${limitChange(name, plan[name], limit)}, for ${without}: the keys without a limit of their own.`,
    ];
  });
  if (body.alertPercents !== undefined)
    changes.push(`Alerts: ${alertsAt(plan.alertPercents)} → ${alertsAt(body.alertPercents)} of the day.`);
  const { requestsPerDay: limit } = body;
  if (typeof limit !== "number" || limit >= (plan.requestsPerDay ?? 0)) return changes;
  const until = countedUntil(lastDays(1), await lastReports(env));
  const over = await countKeysOver(db, id, limit, author.at);
  const used = `${formatNumber(limit)} requests or more today, by ${formatTime(until)}`;
  if (over === 0) return [...changes, `No key used ${used}.`];
  return [
    ...changes,
    `${counted(over, "key")} used ${used}: further requests are refused until midnight UTC.`,
  ];
}
