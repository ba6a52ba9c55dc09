/** Undoes a change: a new change brings back the members of its audit entry, or what a load has replaced. */
import type * as v from "valibot";
import { type Database, openDatabase } from "../../db/database.ts";
import { conflict, notFound } from "../../platform/errors.ts";
import { exactNumber, parseExactJson } from "../../text/exact-json.ts";
import { type Members, membersOf, wordsOf } from "../../text/says.ts";
import type { Input } from "../call.ts";
import { requireTarget } from "../change.ts";
import { checked } from "../http/request-validation.ts";
import type { dryRun } from "../http/schemas.ts";
import { updateKey } from "../keys/change.ts";
import { keyUpdate } from "../keys/schema.ts";
import { requireKey } from "../keys/sql.ts";
import { undoShipment, updateOrder } from "../orders/change.ts";
import { orderUpdate } from "../orders/schema.ts";
import { requireOrder } from "../orders/sql.ts";
import { undoLoad } from "../orders/undo-load-sql.ts";
import { updatePlan } from "../plans/change.ts";
import { planUpdate } from "../plans/schema.ts";
import { planTarget } from "../plans/sql.ts";
import type { AuditView, Undone, undoing } from "./schema.ts";
import { findEntry } from "./sql.ts";

export const UNDOABLE: readonly string[] = [
  "keys.update",
  "plans.update",
  "orders.update",
  "orders.ship",
  "orders.load",
];

type UndoInput = Pick<
  Input<v.InferOutput<typeof undoing>, v.InferOutput<typeof dryRun>>,
  "env" | "author" | "id" | "body" | "query"
>;

/** Throws a 409 that names the members that are not as the change left them. */
export async function undoChange({
  env,
  author,
  id,
  body: { shipment },
  query: { "dry-run": isDryRun },
}: UndoInput): Promise<Undone> {
  const db = openDatabase(env.DB);
  const entry = await findEntry(db, id);
  if (entry === undefined) throw notFound("The audit log has no entry with this id.");
  const { call, object } = entry;
  if (shipment && call !== "orders.ship") throw conflict(`A change by ${call} is no shipment.`);
  if (call === "orders.load") {
    return { call, undone: [], ...(await undoLoad(db, author, entry, isDryRun)) };
  }
  if (shipment) {
    const { undone, left } = await undoShipment(db, author, entry, isDryRun);
    if (undone.length === 0) throw conflict("Nothing was undone, as no order is as the shipment left it.");
    return { call, undone, left, load: null };
  }
  const undo = await undoOne({ env, author, id: object }, db, entry);
  if (!isDryRun) await undo();
  return { call, undone: [object], left: [], load: null };
}

/** Returns the change that brings back the members. */
async function undoOne(
  change: Pick<UndoInput, "env" | "author" | "id">,
  db: Database,
  { call, object, ...entry }: AuditView,
): Promise<() => Promise<unknown>> {
  const { env } = change;
  const [before, after] = [membersOf(entry.before), membersOf(entry.after)];
  if (call === "plans.update") {
    const now = await requireTarget(db, planTarget(object));
    refuseOthers(now, after);
    const body = checked(env, planUpdate, before);
    return () => updatePlan({ ...change, body, expected: now.version });
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
    return () => updateKey({ ...change, body, expected: now.version });
  }
  if (call !== "orders.update" && call !== "orders.ship")
    throw conflict(`A change by ${call} cannot be undone.`);
  const { json, version } = await requireOrder(db, object);
  refuseOthers(membersOf(parseExactJson(json, exactNumber)), after);
  const body = checked(env, orderUpdate, { ...before, allowBackwards: true });
  return () => updateOrder({ ...change, body, expected: version });
}

function refuseOthers(now: Members, after: Members): void {
  const textOf = (value: unknown) => JSON.stringify(value ?? null);
  const others = Object.keys(after).filter((name) => textOf(now[name]) !== textOf(after[name]));
  if (others.length === 0) return;
  throw conflict(
    `Nothing was undone, as these are not as the change left them: ${others.map(wordsOf).join(", ")}.`,
  );
}
