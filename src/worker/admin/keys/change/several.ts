/** Makes a change of several keys: those with these ids, or all keys of a customer. */
import { sql } from "drizzle-orm";
import type * as v from "valibot";
import { idOfCustomer } from "../../../db/customers-sql.ts";
import { type Database, openDatabase } from "../../../db/database.ts";
import { invalidMembers } from "../../../platform/errors.ts";
import type { Input } from "../../call.ts";
import { type ChangeOfRows, makeEach, sentencesOf } from "../../change.ts";
import type { dryRun } from "../../http/schemas.ts";
import { MAX_KEYS_AT_ONCE, refreshEachAtOnce } from "../../refresh-limiters.ts";
import { saysOf } from "../../says.ts";
import type { ChangedKeys, keySelection } from "../schema.ts";
import { KEYS, type KeyUse, selectUse } from "../sql.ts";

type Selection = v.InferOutput<typeof keySelection>;
export type SeveralInput<Body extends Selection> = Pick<
  Input<Body, v.InferOutput<typeof dryRun>>,
  "env" | "author" | "body" | "query"
>;

/** All keys change in one transaction, each with its entry. A key that cannot change is named with the reason. */
export async function changeSeveral(
  { env, author, body, query }: SeveralInput<Selection>,
  change: ChangeOfRows,
  plan: string | null = null,
): Promise<ChangedKeys> {
  const db = openDatabase(env.DB);
  const ids = await chosenIds(db, body);
  const isDryRun = query["dry-run"];
  const { changed, kept, viewed } = await makeEach(
    { env, author, isDryRun },
    KEYS,
    ids.map((object) => ({ object })),
    { ...change, batch: author.requestId, view: selectUse(ids, author.at, plan) },
  );
  const changedIds = changed.map(({ object }) => object);
  const effectOf = isDryRun ? () => null : await refreshEachAtOnce(env, changedIds);
  const said = changed.map((each) => {
    const says = saysOf({ call: change.call, ...each });
    return { title: each.title, says, effective: effectOf(each.object) };
  });
  const beforeOf = new Map(changed.map(({ object, before }) => [object, before]));
  const left = sentencesOf(kept.map(({ title, reason: says }) => ({ title, says })));
  return {
    changed: (viewed as KeyUse[]).flatMap(({ id, limits, plan: now, ...use }) => {
      const before = beforeOf.get(id);
      if (before === undefined) return [];
      const was = String(before.status ?? before.plan ?? now);
      return [{ id, was, limits: JSON.parse(limits), ...use, effective: effectOf(id) }];
    }),
    unchanged: kept.map(({ object: id, title: name, reason }) => ({ id, name, reason })),
    says: [...sentencesOf(said, isDryRun), ...left.map((line) => `Unchanged: ${line}`)].join("\n"),
  };
}

const IDS_SHOWN = 5;

async function chosenIds(db: Database, { ids, customer }: Selection): Promise<readonly string[]> {
  if ((ids === undefined) === (customer === undefined)) {
    const reason = "exactly one of ids and customer is required";
    throw invalidMembers({ member: "ids", reason }, { member: "customer", reason });
  }
  const isChosen =
    customer === undefined
      ? sql`id in (select value from json_each(${JSON.stringify(ids)}))`
      : sql`customer_id = ${idOfCustomer(customer)}`;
  const rows = await db.all<{ id: string }>(
    sql`select id from api_keys where ${isChosen} order by name, id limit ${MAX_KEYS_AT_ONCE + 1}`,
  );
  const chosen = rows.map(({ id }) => id);
  if (ids !== undefined) {
    const missing = [...new Set(ids)].filter((id) => !chosen.includes(id));
    if (missing.length === 0) return chosen;
    const rest = missing.length > IDS_SHOWN ? ` and ${missing.length - IDS_SHOWN} others` : "";
    const reason = `no key has the id ${missing.slice(0, IDS_SHOWN).join(", ")}${rest}`;
    throw invalidMembers({ member: "ids", reason });
  }
  if (chosen.length === 0) throw invalidMembers({ member: "customer", reason: "no key has this customer" });
  if (chosen.length <= MAX_KEYS_AT_ONCE) return chosen;
  const reason = `has more than ${MAX_KEYS_AT_ONCE} keys: give up to ${MAX_KEYS_AT_ONCE} ids`;
  throw invalidMembers({ member: "customer", reason });
}
