/** Undoes a change of a key, plan or order: a new change brings back the members of its audit entry. */
import type * as v from "valibot";
import { openDatabase } from "../../db/database.ts";
import { conflict, notFound } from "../../platform/errors.ts";
import { exactNumber, parseExactJson } from "../../text/exact-json.ts";
import { type Members, membersOf, wordsOf } from "../../text/says.ts";
import type { Input } from "../call.ts";
import { requireTarget } from "../change.ts";
import { checked } from "../http/request-validation.ts";
import { updateKey } from "../keys/change.ts";
import { keyUpdate } from "../keys/schema.ts";
import { requireKey } from "../keys/sql.ts";
import { undoShipment, updateOrder } from "../orders/change.ts";
import { orderUpdate } from "../orders/schema.ts";
import { requireOrder } from "../orders/sql.ts";
import { updatePlan } from "../plans/change.ts";
import { planUpdate } from "../plans/schema.ts";
import { planTarget } from "../plans/sql.ts";
import type { Undone, undoing } from "./schema.ts";
import { findEntry } from "./sql.ts";

export const UNDOABLE: readonly string[] = ["keys.update", "plans.update", "orders.update", "orders.ship"];

/** Throws a 409 that names the members that are not as the change left them. */
export async function undoChange({
  env,
  author,
  id,
  body: { shipment },
}: Pick<Input<v.InferOutput<typeof undoing>, unknown>, "env" | "author" | "id" | "body">): Promise<Undone> {
  const db = openDatabase(env.DB);
  const entry = await findEntry(db, id);
  if (entry === undefined) throw notFound("The audit log has no entry with this id.");
  const { call, object } = entry;
  const [before, after] = [membersOf(entry.before), membersOf(entry.after)];
  const change = { env, author, id: object };
  if (shipment) {
    if (call !== "orders.ship") throw conflict(`A change by ${call} is no shipment.`);
    const { undone, left } = await undoShipment(db, author, entry);
    if (undone.length === 0) throw conflict("Nothing was undone, as no order is as the shipment left it.");
    return { call, undone, left };
  }
  if (call === "plans.update") {
    const now = await requireTarget(db, planTarget(object));
    refuseOthers(now, after);
    await updatePlan({ ...change, body: checked(env, planUpdate, before), expected: now.version });
  } else if (call === "keys.update") {
    const now = await requireKey(db, object);
    // An active key can be shown as expired or banned.
    const status = now.status === "disabled" || now.status === "revoked" ? now.status : "active";
    refuseOthers({ ...now, status }, after);
    const { status: was, ...members } = before;
    const body = was === undefined ? members : { ...members, disabled: was === "disabled" };
    await updateKey({ ...change, body: checked(env, keyUpdate, body), expected: now.version });
  } else if (call === "orders.update" || call === "orders.ship") {
    const { json, version } = await requireOrder(db, object);
    refuseOthers(membersOf(parseExactJson(json, exactNumber)), after);
    const body = checked(env, orderUpdate, { ...before, allowBackwards: true });
    await updateOrder({ ...change, body, expected: version });
  } else throw conflict(`A change by ${call} cannot be undone.`);
  return { call, undone: [object], left: [] };
}

function refuseOthers(now: Members, after: Members): void {
  const textOf = (value: unknown) => JSON.stringify(value ?? null);
  const others = Object.keys(after).filter((name) => textOf(now[name]) !== textOf(after[name]));
  if (others.length === 0) return;
  throw conflict(
    `Nothing was undone, as these are not as the change left them: ${others.map(wordsOf).join(", ")}.`,
  );
}
