/** Changes members of keys: of one key, of several keys, at a planned midnight, or back to what an entry says. Revokes keys. */
import { SQL, sql } from "drizzle-orm";
import type * as v from "valibot";
import type { Author, Bindings } from "../../../context.ts";
import { openDatabase } from "../../../db/database.ts";
import { invalidMembers, invalidRequest } from "../../../platform/errors.ts";
import { logError } from "../../../platform/log.ts";
import { planName } from "../../../text/format.ts";
import { listOf, type Members } from "../../../text/says.ts";
import { nowSeconds, rfc3339 } from "../../../text/time.ts";
import {
  type ChangeInput,
  type ChangeOfRows,
  make,
  makeEach,
  requireTarget,
  updateRows,
} from "../../change.ts";
import { nameCustomer } from "../../customers/change/name.ts";
import { LIMITS, type LimitName, limitChange } from "../../plans/schema.ts";
import { planTarget } from "../../plans/sql.ts";
import { MAX_KEYS_AT_ONCE, refreshAtOnce } from "../../refresh-limiters.ts";
import { keyRefusal } from "../../refusal-sql.ts";
import { reportNow } from "../../usage/service.ts";
import type { ChangedKeys, KeyView, keySelection, keyUpdate, planOfKeys, updatedKey } from "../schema.ts";
import { KEYS, keyTarget, requireKey } from "../sql.ts";
import { createdFor, foldedOf, type KeyChanges, toAuditFields, withCustomer } from "./create.ts";
import { changeSeveral, type SeveralInput } from "./several.ts";

type UpdatedKey = v.InferOutput<typeof updatedKey>;
type Selection = v.InferOutput<typeof keySelection>;

/** The change of these members. `after` is a value, or SQL of a JSON text. */
export function keyUpdateTo(names: readonly string[], after: unknown, folded: KeyChanges = {}) {
  return {
    call: "keys.update",
    before: names,
    after,
    refused: keyRefusal(after instanceof SQL ? after : sql`${JSON.stringify(after)}`),
    statements: (made) => [
      updateRows(KEYS, made, names, {
        ...folded,
        ...(names.includes("nextPlan") && { nextPlanFrom: sql`unixepoch(made.after ->> '$.nextPlan.from')` }),
      }),
    ],
  } as const satisfies ChangeOfRows;
}

type ChangeOfPlan = Pick<v.InferOutput<typeof keyUpdate>, "plan" | "planFrom">;

/** A change of now takes back a planned one. */
function planMembers({ plan, planFrom }: ChangeOfPlan): Members {
  if (plan === undefined) return {};
  return planFrom === undefined ? { plan, nextPlan: null } : { nextPlan: { plan, from: rfc3339(planFrom) } };
}

/** SQL of why a key cannot get the plan later. A limiter knows one later change of limits. */
function planningRefusal({ plan, planFrom }: ChangeOfPlan, { at }: Author): SQL {
  if (plan === undefined || planFrom === undefined) return sql`null`;
  return sql`case when plan = ${plan} then ${`has plan ${planName(plan)} already`}
    when temporary_until > ${at} then 'has temporary limits: end them before you plan another plan' end`;
}

export async function updateKey(input: ChangeInput<v.InferOutput<typeof keyUpdate>>): Promise<UpdatedKey> {
  const { env, author, id, body, isDryRun = false } = input;
  const { disabled, customer: named, plan, planFrom, ...fields } = body;
  if (planFrom !== undefined && plan === undefined)
    throw invalidMembers({ member: "plan", reason: "is required beside planFrom" });
  const status = disabled === undefined ? undefined : disabled ? "disabled" : "active";
  const sent = Object.entries({ ...fields, status }).filter(([, value]) => value !== undefined);
  const changes: KeyChanges = Object.fromEntries(sent);
  const members = { ...toAuditFields(changes), ...planMembers(body) };
  if (Object.keys(members).length === 0 && named === undefined) throw invalidRequest("This changes nothing.");
  if (planFrom !== undefined) await makePlannedChanges(env);
  const db = openDatabase(env.DB);
  const before = await requireKey(db, id);
  const customer = named === undefined ? undefined : await nameCustomer(db, author, named);
  // The limiter may have requests of today to report. They belong to the customer and the plan of before.
  if (customer !== undefined || plan !== undefined) await reportNow(env, before).catch(() => false);
  const names = [...(customer ? ["customer"] : []), ...Object.keys(members)];
  const after = customer ? withCustomer(members, customer) : members;
  const change = keyUpdateTo(names, after, foldedOf({ ...before, ...changes }));
  const { now, entry, says } = await make(input, keyTarget(id, author.at), {
    ...change,
    refused: sql`coalesce(${change.refused}, ${customer?.refused ?? sql`null`}, ${planningRefusal(body, author)})`,
    statements: (made) => [...(customer?.statements(made) ?? []), ...change.statements(made)],
    // The folded texts are of the key as it was read. After another change of a text, this one begins again.
    // The version ends the repetition: text that is not UTF-8 equals nothing that was read.
    keeps: sql`iif(version = ${before.version} or (name, note) is (${before.name}, ${before.note}), null, 'has other texts')`,
  });
  if (entry === undefined) return updateKey(input);
  if (isDryRun) return { ...now, effective: "immediately", says: says() };
  const effective = await refreshAtOnce(env, { key: id });
  const isNew = createdFor(now, customer);
  const kept = plan === undefined ? "" : keptLimits(now);
  return { ...now, ...isNew, effective, says: says(effective) + isNew.says + kept };
}

/** Limits that a key has beside its plan's go on, which an operator who changes the plan may not expect. */
function keptLimits({ requestsPerMinute, requestsPerDay, temporaryLimits }: KeyView): string {
  const own = listOf(Object.entries({ requestsPerMinute, requestsPerDay }));
  const temporary = listOf(Object.entries(temporaryLimits ?? {}));
  return [
    own && ` The key keeps limits of its own: ${own}.`,
    temporary && ` The key keeps temporary limits: ${temporary}.`,
  ].join("");
}

export function disableKeys(input: SeveralInput<Selection>): Promise<ChangedKeys> {
  return changeSeveral(input, {
    ...keyUpdateTo(["status"], { status: "disabled" }),
    keeps: sql`iif(status = 'disabled', 'is disabled already', null)`,
  });
}

export function enableKeys(input: SeveralInput<Selection>): Promise<ChangedKeys> {
  return changeSeveral(input, {
    ...keyUpdateTo(["status"], { status: "active" }),
    keeps: sql`iif(status = 'active', 'is not disabled', null)`,
  });
}

export async function setPlanOfKeys(
  input: SeveralInput<v.InferOutput<typeof planOfKeys>>,
): Promise<ChangedKeys> {
  const { env, author, body } = input;
  const { plan, planFrom } = body;
  if (planFrom !== undefined) await makePlannedChanges(env);
  const members = planMembers(body);
  const update = keyUpdateTo(Object.keys(members), members);
  const isSo =
    planFrom === undefined
      ? sql`plan = ${plan} and next_plan is null`
      : sql`(next_plan, next_plan_from) is (${plan}, ${planFrom})`;
  const change = {
    ...update,
    refused: sql`coalesce(${update.refused}, ${planningRefusal(body, author)})`,
    keeps: sql`iif(${isSo}, ${`has plan ${planName(plan)} already`}, null)`,
  };
  return changeSeveral(input, change, plan);
}

/**
 * Makes the planned changes of plans that are due, at most 500. Their limits are in force already: only lists and
 * counts wait for this. Each undo is of the plan alone, as the midnight has passed.
 */
export async function makePlannedChanges(env: Bindings): Promise<void> {
  const author = { actor: "cron", requestId: crypto.randomUUID(), at: nowSeconds() };
  const isDue = sql`next_plan_from <= ${author.at} and status <> 'revoked'`;
  try {
    const due = await openDatabase(env.DB).all<{ object: string }>(
      sql`select id as object from api_keys where ${isDue} limit ${MAX_KEYS_AT_ONCE}`,
    );
    if (due.length === 0) return;
    await makeEach({ env, author }, KEYS, due, {
      ...keyUpdateTo(["plan"], sql`json_object('plan', next_plan)`),
      batch: author.requestId,
      keeps: sql`iif(${isDue}, null, 'has no plan that is due')`,
      statements: (made) => [updateRows(KEYS, made, ["plan"], { nextPlan: null, nextPlanFrom: null })],
    });
  } catch (thrown) {
    logError("planned_changes_not_made", thrown);
  }
}

/** The limits before and after a planned change. Any other change asks nothing. */
export async function previewKeyUpdate(
  input: ChangeInput<v.InferOutput<typeof keyUpdate>>,
): Promise<string[]> {
  const { env, body } = input;
  if (body.plan === undefined || body.planFrom === undefined) return [];
  const key = await updateKey({ ...input, isDryRun: true });
  const plan = await requireTarget(openDatabase(env.DB), planTarget(body.plan));
  const then = (name: LimitName) => (body[name] === undefined ? key[name] : body[name]) ?? plan[name];
  return [key.says, ...LIMITS.map((name) => `${limitChange(name, key.limits[name], then(name))}.`)];
}

const REVOCATION = {
  call: "keys.revoke",
  before: ["status"],
  after: { status: "revoked" },
  keeps: sql`iif(status = 'revoked', 'is revoked, which is permanent', null)`,
  statements: (made) => [updateRows(KEYS, made, ["status"], { nextPlan: null, nextPlanFrom: null })],
} as const satisfies ChangeOfRows;

/** Revoking a revoked key changes nothing and writes no audit row. */
export async function revokeKey(input: ChangeInput): Promise<UpdatedKey> {
  const { env, author, id } = input;
  const { now, says } = await make(input, keyTarget(id, author.at), REVOCATION);
  const effective = await refreshAtOnce(env, { key: id });
  return { ...now, effective, says: says(effective) };
}

export function revokeKeys(input: SeveralInput<Selection>): Promise<ChangedKeys> {
  return changeSeveral(input, REVOCATION);
}
