/** Changes several keys at once: those with these ids, or all keys of an owner. */
import { type SQL, sql } from "drizzle-orm";
import type * as v from "valibot";
import { openDatabase, transact } from "../../../db/database.ts";
import type { AuditCall } from "../../../db/values.ts";
import { invalidMembers } from "../../../platform/errors.ts";
import { planName } from "../../../text/format.ts";
import { membersOf } from "../../../text/says.ts";
import { foldCase } from "../../../text/text.ts";
import { toUnixSeconds } from "../../../text/time.ts";
import type { AuditView } from "../../audit/schema.ts";
import { audit, rowsOf } from "../../audit/sql.ts";
import type { Input } from "../../call.ts";
import type { dryRun } from "../../http/schemas.ts";
import { MAX_KEYS_AT_ONCE, refreshEachAtOnce } from "../../refresh-limiters.ts";
import type { ChangedKeys, keySelection, planOfKeys } from "../schema.ts";

type Selection = v.InferOutput<typeof keySelection>;
type SeveralInput<Body extends Selection> = Pick<
  Input<Body, v.InferOutput<typeof dryRun>>,
  "env" | "author" | "body" | "query"
>;

type UndoInput = Pick<SeveralInput<Selection>, "env" | "author" | "query">;

type SeveralChange = {
  readonly call: AuditCall;
  readonly column: "status" | "plan";
  /** The ids of the keys, each once, and `becomes`, the value that the column gets. */
  readonly named: SQL;
  /** Why a key `k` that is not revoked cannot change. SQL of a text, null if the key changes. */
  readonly keeps: SQL;
};

export function disableKeys(input: SeveralInput<Selection>): Promise<ChangedKeys> {
  return changeKeys(input, {
    ...{ call: "keys.update", column: "status", named: namedBy(input.body, "disabled") },
    keeps: sql`iif(k.status = 'disabled', 'is disabled already', null)`,
  });
}

export function enableKeys(input: SeveralInput<Selection>): Promise<ChangedKeys> {
  return changeKeys(input, {
    ...{ call: "keys.update", column: "status", named: namedBy(input.body, "active") },
    keeps: sql`iif(k.status = 'active', 'is not disabled', null)`,
  });
}

export function revokeKeys(input: SeveralInput<Selection>): Promise<ChangedKeys> {
  return changeKeys(input, {
    ...{ call: "keys.revoke", column: "status", named: namedBy(input.body, "revoked") },
    keeps: sql`null`,
  });
}

export function setPlanOfKeys(input: SeveralInput<v.InferOutput<typeof planOfKeys>>): Promise<ChangedKeys> {
  const { body } = input;
  const name = planName(body.plan);
  return changeKeys(input, {
    ...{ call: "keys.update", column: "plan", named: namedBy(body, body.plan) },
    keeps: sql`case when k.plan = becomes then ${`has plan ${name} already`}
      when ${LACKS_LIMITS} then ${`needs limits of its own, as plan ${name} has none`} end`,
  });
}

const LACKS_LIMITS = sql`exists (
  select 1 from plans p where p.id = becomes
    and (coalesce(k.requests_per_minute, p.requests_per_minute) is null
      or coalesce(k.requests_per_day, p.requests_per_day) is null))`;

/** Undoes the change of the keys that one request has changed, by one of the functions above. */
export function undoKeys(
  input: UndoInput,
  { at, requestId, after }: Pick<AuditView, "at" | "requestId" | "after">,
): Promise<ChangedKeys> {
  const column = Object.hasOwn(membersOf(after), "plan") ? "plan" : "status";
  const entries = rowsOf({ at: toUnixSeconds(Date.parse(at)), requestId }, "keys.update");
  return changeKeys(input, {
    ...{ call: "keys.update", column },
    // A change of one key can have other members.
    named: sql`(select object as id, before ->> ${column} as becomes, after ->> ${column} as became from ${entries}
      and after = json_object(${column}, after ->> ${column}) and object in (select id from api_keys))`,
    keeps: sql`case when k.${sql.identifier(column)} <> became then 'has changed since'
      when ${column === "plan" ? LACKS_LIMITS : sql`false`} then 'needs limits of its own' end`,
  });
}

type Found = {
  readonly id: string;
  /** Null: no key has this id. */
  readonly name: string | null;
  readonly was: string;
  readonly reason: string | null;
};

/**
 * Makes the change of all keys in one batch of three statements, whatever their number. `make` changes one object
 * only. Here the audit rows say which keys change, and no other change comes between the statements.
 */
async function changeKeys(
  { env, author, body, query }: UndoInput & { readonly body?: Selection },
  { call, column, named, keeps }: SeveralChange,
): Promise<ChangedKeys> {
  const db = openDatabase(env.DB);
  const member = sql.identifier(column);
  const found = sql`
    select k.id as found, named.id, k.name, k.${member} as was, becomes,
      iif(k.status = 'revoked', 'is revoked, which is permanent', ${keeps}) as reason
    from ${named} named left join api_keys k on k.id = named.id`;
  const isAllowed = sql`(select count(*) = count(found) and count(*) <= ${MAX_KEYS_AT_ONCE} from (${found}))`;
  const change = {
    call,
    object: sql`id`,
    before: sql`json_object(${column}, was)`,
    after: sql`json_object(${column}, becomes)`,
  };
  // Only the rows of the first statement are read.
  const [rows = []] = await transact<Found[]>(db, [
    sql`select id, name, was, reason from (${found}) order by name, id limit ${MAX_KEYS_AT_ONCE + 1}`,
    ...(query["dry-run"]
      ? []
      : [
          audit(db, author, change, sql`reason is null and ${isAllowed}`, found),
          sql`
            update api_keys set ${member} = after ->> ${column}, version = version + 1
            from (select object, after from ${rowsOf(author, call)}) where api_keys.id = object`,
        ]),
  ]);
  if (body !== undefined) refuse(body, rows);
  const changing = rows.filter(({ reason }) => reason === null);
  const effectOf = query["dry-run"]
    ? () => null
    : await refreshEachAtOnce(
        env,
        changing.map(({ id }) => id),
      );
  return {
    changed: changing.map(({ id, name, was }) => ({ id, name: name ?? id, was, effective: effectOf(id) })),
    unchanged: rows.flatMap(({ id, name, reason }) =>
      reason === null ? [] : [{ id, name: name ?? id, reason }],
    ),
  };
}

function namedBy({ ids, owner }: Selection, becomes: string): SQL {
  if ((ids === undefined) === (owner === undefined)) {
    const reason = "exactly one of ids and owner is required";
    throw invalidMembers({ member: "ids", reason }, { member: "owner", reason });
  }
  if (owner !== undefined)
    return sql`(select id, ${becomes} as becomes from api_keys where owner_key = ${foldCase(owner)})`;
  return sql`(select distinct value as id, ${becomes} as becomes from json_each(${JSON.stringify(ids)}))`;
}

const IDS_SHOWN = 5;

/** The statements of the batch have the same conditions. */
function refuse({ ids }: Selection, rows: readonly Found[]): void {
  const missing = rows.flatMap(({ id, name }) => (name === null ? [id] : []));
  const some = missing.slice(0, IDS_SHOWN).join(", ");
  const others = missing.length - IDS_SHOWN;
  if (missing.length > 0) {
    const rest = others > 0 ? ` and ${others} others` : "";
    throw invalidMembers({ member: "ids", reason: `no key has the id ${some}${rest}` });
  }
  if (ids !== undefined) return;
  if (rows.length === 0) throw invalidMembers({ member: "owner", reason: "no key has this owner" });
  if (rows.length <= MAX_KEYS_AT_ONCE) return;
  const reason = `has more than ${MAX_KEYS_AT_ONCE} keys: give up to ${MAX_KEYS_AT_ONCE} ids`;
  throw invalidMembers({ member: "owner", reason });
}
