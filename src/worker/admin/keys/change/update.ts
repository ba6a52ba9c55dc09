/** Changes members of keys: of one key, of several keys, or back to what an entry says. Revokes keys. */
import { SQL, sql } from "drizzle-orm";
import type * as v from "valibot";
import { openDatabase } from "../../../db/database.ts";
import { invalidRequest } from "../../../platform/errors.ts";
import { planName } from "../../../text/format.ts";
import { listOf } from "../../../text/says.ts";
import { type ChangeInput, type ChangeOfRows, make, updateRows } from "../../change.ts";
import { nameCustomer } from "../../customers/change/name.ts";
import { refreshAtOnce } from "../../refresh-limiters.ts";
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
    statements: (made) => [updateRows(KEYS, made, names, folded)],
  } as const satisfies ChangeOfRows;
}

export async function updateKey(input: ChangeInput<v.InferOutput<typeof keyUpdate>>): Promise<UpdatedKey> {
  const { env, author, id, body } = input;
  const { disabled, customer: named, ...fields } = body;
  const status = disabled === undefined ? undefined : disabled ? "disabled" : "active";
  const members = Object.entries({ ...fields, status }).filter(([, value]) => value !== undefined);
  if (members.length === 0 && named === undefined) throw invalidRequest("This changes nothing.");
  const changes: KeyChanges = Object.fromEntries(members);
  const db = openDatabase(env.DB);
  const before = await requireKey(db, id);
  const customer = named === undefined ? undefined : await nameCustomer(db, author, named);
  // The limiter may have requests of today to report. They belong to the customer and the plan of before.
  if (customer !== undefined || body.plan !== undefined) await reportNow(env, before).catch(() => false);
  const names = [...(customer ? ["customer"] : []), ...Object.keys(changes)];
  const after = customer ? withCustomer(toAuditFields(changes), customer) : toAuditFields(changes);
  const change = keyUpdateTo(names, after, foldedOf({ ...before, ...changes }));
  const { now, entry, says } = await make(input, keyTarget(id, author.at), {
    ...change,
    refused: sql`coalesce(${change.refused}, ${customer?.refused ?? sql`null`})`,
    statements: (made) => [...(customer?.statements(made) ?? []), ...change.statements(made)],
    // The folded texts are of the key as it was read. After another change of a text, this one begins again.
    // The version ends the repetition: text that is not UTF-8 equals nothing that was read.
    keeps: sql`iif(version = ${before.version} or (name, note) is (${before.name}, ${before.note}), null, 'has other texts')`,
  });
  if (entry === undefined) return updateKey(input);
  const effective = await refreshAtOnce(env, { key: id });
  const isNew = createdFor(now, customer);
  const kept = body.plan === undefined ? "" : keptLimits(now);
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

export function setPlanOfKeys(input: SeveralInput<v.InferOutput<typeof planOfKeys>>): Promise<ChangedKeys> {
  const { plan } = input.body;
  const change = {
    ...keyUpdateTo(["plan"], { plan }),
    keeps: sql`iif(plan = ${plan}, ${`has plan ${planName(plan)} already`}, null)`,
  };
  return changeSeveral(input, change, plan);
}

const REVOCATION = {
  call: "keys.revoke",
  before: ["status"],
  after: { status: "revoked" },
  keeps: sql`iif(status = 'revoked', 'is revoked, which is permanent', null)`,
  statements: (made) => [updateRows(KEYS, made, ["status"])],
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
