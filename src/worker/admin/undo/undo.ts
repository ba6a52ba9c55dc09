/** Undoes a change: a new change brings back the members of its audit entry, or what a load has replaced. */
import type * as v from "valibot";
import { type Database, openDatabase } from "../../db/database.ts";
import { TOGETHER_CALLS } from "../../db/values.ts";
import { conflict, notFound } from "../../platform/errors.ts";
import { exactNumber, parseExactJson } from "../../text/exact-json.ts";
import { type Members, membersOf, wordsOf } from "../../text/says.ts";
import type { AuditView } from "../audit/schema.ts";
import { findEntry } from "../audit/sql.ts";
import type { Input } from "../call.ts";
import { requireTarget } from "../change.ts";
import { checked } from "../http/request-validation.ts";
import type { dryRun } from "../http/schemas.ts";
import { updateKey } from "../keys/change.ts";
import { type ChangedKeys, keyUpdate } from "../keys/schema.ts";
import { undoKeys } from "../keys/several/change.ts";
import { requireKey } from "../keys/sql.ts";
import { undoShipment, updateOrder } from "../orders/change.ts";
import { orderUpdate } from "../orders/schema.ts";
import { requireOrder } from "../orders/sql.ts";
import { undoLoad } from "../orders/undo-load-sql.ts";
import { updatePlan } from "../plans/change.ts";
import { planUpdate } from "../plans/schema.ts";
import { planTarget } from "../plans/sql.ts";
import type { Effective } from "../refresh-limiters.ts";
import type { Undone, undoing } from "./schema.ts";

type UndoInput = Pick<
  Input<v.InferOutput<typeof undoing>, v.InferOutput<typeof dryRun>>,
  "env" | "author" | "id" | "body" | "query"
>;

/** Throws a 409 that names the members that are not as the change left them. */
export async function undoChange({ env, author, id, body, query }: UndoInput): Promise<Undone> {
  const db = openDatabase(env.DB);
  const entry = await findEntry(db, id);
  if (entry === undefined) throw notFound("The audit log has no entry with this id.");
  const { call, object } = entry;
  const isDryRun = query["dry-run"];
  if (call === "orders.load") {
    return { call, undone: [], effective: null, ...(await undoLoad(db, author, entry, isDryRun)) };
  }
  if (!body.together) {
    const undo = await undoOne({ env, author, id: object }, db, entry);
    const effective = isDryRun ? null : await undo();
    return { call, undone: [object], left: [], effective, load: null };
  }
  if (!TOGETHER_CALLS.includes(call))
    throw conflict(`A change by ${call} is of one object, or cannot be undone.`);
  const undone =
    call === "orders.ship"
      ? { ...(await undoShipment(db, author, entry, isDryRun)), effective: null }
      : undoneKeys(await undoKeys({ env, author, query }, entry));
  if (undone.undone.length === 0) throw conflict("Nothing was undone, as nothing is as the change left it.");
  return { call, ...undone, load: null };
}

function undoneKeys({ changed, unchanged }: ChangedKeys) {
  const effects = changed.map(({ effective }) => effective);
  return {
    undone: changed.map(({ id }) => id),
    left: unchanged.map(({ id }) => id),
    effective: effects.find((effect) => effect !== "immediately") ?? effects[0] ?? null,
  };
}

/** Returns the change that brings back the members. */
async function undoOne(
  change: Pick<UndoInput, "env" | "author" | "id">,
  db: Database,
  { call, object, ...entry }: AuditView,
): Promise<() => Promise<Effective | null>> {
  const { env } = change;
  const [before, after] = [membersOf(entry.before), membersOf(entry.after)];
  if (call === "plans.update") {
    const now = await requireTarget(db, planTarget(object));
    refuseOthers(now, after);
    const body = checked(env, planUpdate, before);
    return async () => (await updatePlan({ ...change, body, expected: now.version })).effective;
  }
  if (call === "keys.update") {
    const now = await requireKey(db, object);
    // An active key can be shown as expired or banned.
    const status = now.status === "disabled" || now.status === "revoked" ? now.status : "active";
    refuseOthers({ ...now, status }, after);
    const { status: was, ...members } = before;
    const body = checked(
      env,
      keyUpdate,
      was === undefined ? members : { ...members, disabled: was === "disabled" },
    );
    return async () => (await updateKey({ ...change, body, expected: now.version })).effective;
  }
  if (call !== "orders.update" && call !== "orders.ship")
    throw conflict(`A change by ${call} cannot be undone.`);
  const { json, version } = await requireOrder(db, object);
  refuseOthers(membersOf(parseExactJson(json, exactNumber)), after);
  const body = checked(env, orderUpdate, { ...before, allowBackwards: true });
  return async () => {
    await updateOrder({ ...change, body, expected: version });
    return null;
  };
}

function refuseOthers(now: Members, after: Members): void {
  const textOf = (value: unknown) => JSON.stringify(value ?? null);
  const others = Object.keys(after).filter((name) => textOf(now[name]) !== textOf(after[name]));
  if (others.length === 0) return;
  throw conflict(
    `Nothing was undone, as these are not as the change left them: ${others.map(wordsOf).join(", ")}.`,
  );
}
