/**
 * Undoes a change: by a change back, of the same function, of the version that the entry has made. So nothing is
 * undone that was changed since, and no values are compared.
 */
import { sql } from "drizzle-orm";
import type * as v from "valibot";
import { type Database, openDatabase } from "../../db/database.ts";
import { conflict, notFound } from "../../platform/errors.ts";
import { formatNumber } from "../../text/format.ts";
import { membersOf, sentenceOf, textOf } from "../../text/says.ts";
import { toUnixSeconds } from "../../text/time.ts";
import type { AuditView } from "../audit/schema.ts";
import { findEntry } from "../audit/sql.ts";
import type { Input } from "../call.ts";
import {
  type Changed,
  type ChangeInput,
  type ChangeOfRows,
  type Kind,
  makeEach,
  sentencesOf,
} from "../change.ts";
import { customerUpdateTo } from "../customers/change/update.ts";
import { CUSTOMERS, conflictOnName, requireCustomer } from "../customers/sql.ts";
import type { dryRun } from "../http/schemas.ts";
import { liftBan, setBan } from "../keys/change/ban.ts";
import { FOLDED, foldedOf } from "../keys/change/create.ts";
import { temporaryLimitsTo } from "../keys/change/temporary-limits.ts";
import { keyUpdateTo } from "../keys/change/update.ts";
import { KEYS, requireKey } from "../keys/sql.ts";
import { orderUpdateTo } from "../orders/change.ts";
import { ORDERS } from "../orders/sql.ts";
import { undoLoad } from "../orders/undo-load-sql.ts";
import { planUpdateTo } from "../plans/change.ts";
import { PLANS } from "../plans/sql.ts";
import { refreshAtOnce, refreshEachAtOnce } from "../refresh-limiters.ts";
import { CHANGED_SINCE, undoOf, undoRefusal } from "../refusal-sql.ts";
import { SAYS, STRIKES_REASON, saysOf } from "../says.ts";
import type { Undone, undoing } from "./schema.ts";

type UndoInput = Pick<
  Input<v.InferOutput<typeof undoing>, v.InferOutput<typeof dryRun>>,
  "env" | "author" | "id" | "body" | "query"
>;
type Maker = Pick<ChangeInput, "env" | "author" | "isDryRun">;

/** A transaction undoes so many entries, and a call makes so many transactions. */
const ENTRIES_AT_ONCE = 500;
const MAX_TRANSACTIONS = 40;
const LEFT_SHOWN = 100;

/** What the entry of the expected version says of before, and why it cannot be undone. */
const BEFORE = sql`(select before from audit_log where id = expected)`;
const refusalAt = (seconds: number) =>
  sql`(select ${undoRefusal(seconds)} from audit_log entry where entry.id = expected)`;

export async function undoChange({ env, author, id, body, query }: UndoInput): Promise<Undone> {
  const db = openDatabase(env.DB);
  const entry = await findEntry(db, id);
  if (entry === undefined) throw notFound("The audit log has no entry with this id.");
  const maker = { env, author, isDryRun: query["dry-run"] };
  const { call, batch } = entry;
  if (call === "orders.load" || call === "audit.undo") return undoFile(maker, entry);
  if (call === "bans.set" || call === "bans.lift") return undoBan(maker, entry);
  if (batch === null || !body.together)
    return conflictOnName(undoEntries(maker, entry, [{ ...entry, reason: null }], null));
  return undoEntries(maker, entry, await entriesWith(db, entry, batch, author.at), undoOf(batch));
}

type State = Pick<AuditView, "id" | "object"> & { readonly reason: string | null };

/** The entries of the batch. Of several calls of an undo, the later ones do not count what is undone. */
function entriesWith(db: Database, { call }: AuditView, batch: string, at: number): Promise<State[]> {
  return db.all<State>(sql`
    select id, object, ${undoRefusal(at)} as reason from audit_log entry
    where batch = ${batch} and call = ${call} and not exists (
      select 1 from audit_log later where later.batch = ${undoOf(batch)} and later.object = entry.object)
    order by id`);
}

async function undoEntries(
  maker: Maker,
  entry: AuditView,
  states: readonly State[],
  batch: string | null,
): Promise<Undone> {
  const { kind, change } = await changeBack(maker, entry);
  const refused = refusalAt(maker.author.at);
  const undoable = states.filter(({ reason }) => reason === null);
  const left = states.flatMap(({ object, reason }) => (reason === null ? [] : [object]));
  const chosen = undoable.slice(0, ENTRIES_AT_ONCE * MAX_TRANSACTIONS);
  const waiting = undoable.length - chosen.length;
  const changed: Changed[] = [];
  let why = `all of it ${CHANGED_SINCE}`;
  for (let start = 0; start < chosen.length; start += ENTRIES_AT_ONCE) {
    const slice = chosen.slice(start, start + ENTRIES_AT_ONCE);
    const objects = slice.map(({ id, object }) => ({ object, expected: id }));
    const made = await makeEach(maker, kind, objects, { ...change, refused, batch });
    changed.push(...made.changed);
    left.push(...made.kept.map(({ object }) => object));
    for (const { title, object, reason } of made.kept) why = `${title ?? object} ${reason}`;
  }
  if (changed.length === 0) throw conflict(`Nothing was undone: ${why}.`);
  const undone = changed.map(({ object }) => object);
  const effectOf = await refresh(maker, kind, undone);
  const said = changed.map((each) => ({
    title: each.title,
    says: saysOf({ call: change.call, ...each }) + passed(each, maker),
    effective: effectOf(each.object),
  }));
  const shown = left.slice(0, LEFT_SHOWN);
  return {
    ...{ call: entry.call, undone, left: shown, waiting, load: null },
    effective: undone.map(effectOf).find((effect) => effect !== "immediately") ?? effectOf(entry.object),
    says: [
      ...sentencesOf(said, maker.isDryRun),
      ...(shown.length > 0 ? [`Left as they are now: ${shown.join(", ")}.`] : []),
      ...(waiting > 0 ? [`${formatNumber(waiting)} wait: undo again.`] : []),
    ].join("\n"),
  };
}

/** An expiry, an end of limits or a planned plan is given back as it was. */
function passed({ after }: Changed, { author }: Maker): string {
  const end = Date.parse(String(after.expiresAt ?? after.until ?? membersOf(after.nextPlan).from));
  return end <= author.at * 1_000 ? ". This time has passed" : "";
}

/** Only keys change together. */
async function refresh({ env, isDryRun }: Maker, { noun }: Kind, ids: readonly string[]) {
  if (isDryRun || noun === "order") return () => null;
  if (noun === "key") return refreshEachAtOnce(env, ids);
  const [id = ""] = ids;
  const effect = await refreshAtOnce(env, noun === "plan" ? { plan: id } : { customer: id });
  return () => effect;
}

/** A ban is set again until the end that it had. */
async function undoBan(maker: Maker, { id, call, object, before }: AuditView): Promise<Undone> {
  const { author, isDryRun = false } = maker;
  const input = { ...maker, id: object, expected: id };
  const { endsAt, reason } = membersOf(before);
  const end = toUnixSeconds(Date.parse(String(endsAt)));
  const refused = refusalAt(author.at);
  const { effective, says } = await (end > author.at
    ? setBan(input, end, typeof reason === "string" ? reason : STRIKES_REASON, refused)
    : liftBan(input, refused));
  const undone = { undone: [object], left: [], waiting: 0, load: null };
  return { call, ...undone, effective: isDryRun ? null : effective, says };
}

/** Undoes a load, or the undo of a load. */
async function undoFile(maker: Maker, { call, batch, after }: AuditView): Promise<Undone> {
  const file = membersOf(after).file ?? null;
  const undone = await undoLoad(maker, batch ?? "", typeof file === "string" ? file : null);
  const says = sentenceOf(
    `${maker.isDryRun ? "Then the" : "The"} load of ${textOf(file ?? "orders")}`,
    SAYS["audit.undo"]({}, undone),
  );
  return { call, ...undone, effective: null, says };
}

/** The change that gives objects the members of `before`. */
async function changeBack(
  { env }: Maker,
  { call, object, ...entry }: AuditView,
): Promise<{ readonly kind: Kind; readonly change: ChangeOfRows }> {
  const before = membersOf(entry.before);
  const names = Object.keys(before);
  switch (call) {
    case "keys.update": {
      // The texts of a key are changed of one key only.
      const isText = names.some((name) => FOLDED.includes(name));
      const key = isText ? await requireKey(openDatabase(env.DB), object) : undefined;
      return { kind: KEYS, change: keyUpdateTo(names, BEFORE, key && foldedOf({ ...key, ...before })) };
    }
    case "keys.limit_temporarily":
    case "keys.end_temporary_limits": {
      const change =
        before.temporaryLimits === null
          ? temporaryLimitsTo("keys.end_temporary_limits")
          : temporaryLimitsTo("keys.limit_temporarily", sql`(${BEFORE} -> 'temporaryLimits')`);
      return { kind: KEYS, change };
    }
    case "customers.update": {
      const customer = await requireCustomer(openDatabase(env.DB), object);
      return { kind: CUSTOMERS, change: customerUpdateTo(names, BEFORE, { ...customer, ...before }) };
    }
    case "plans.update":
      return { kind: PLANS, change: planUpdateTo(names, BEFORE) };
    case "orders.update":
    case "orders.ship":
      return { kind: ORDERS, change: orderUpdateTo(names, BEFORE) };
    default:
      throw conflict(`A change by ${call} cannot be undone.`);
  }
}
