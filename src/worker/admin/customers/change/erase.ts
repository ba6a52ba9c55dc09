/** Erases a customer: what names a person goes, also from the audit log. The use stays, without a name. */
import { type SQL, sql } from "drizzle-orm";
import type * as v from "valibot";
import { type Database, openDatabase } from "../../../db/database.ts";
import { foldCase } from "../../../text/text.ts";
import { type ChangeInput, make, versionOf } from "../../change.ts";
import type { changedCustomer } from "../schema.ts";
import { customerTarget, requireCustomer } from "../sql.ts";

const KEYS_NAMED = 5;

/** Erasing an erased customer changes nothing and writes no audit row. */
export async function eraseCustomer(input: ChangeInput): Promise<v.InferOutput<typeof changedCustomer>> {
  const { env, author } = input;
  const db = openDatabase(env.DB);
  const { id } = await requireCustomer(db, input.id);
  const ofKeys = sql`select id from api_keys where customer_id = ${id}`;
  const entries = await findEntriesOfOwner(db, id);
  const { now, says } = await make(input, customerTarget(id), {
    call: "customers.erase",
    keeps: sql`iif(erased_at is null, null, 'is erased')`,
    refused: keysLeft(id),
    statements: (made) => [
      {
        head: sql`delete from alerts`,
        where: sql`key_id in (${ofKeys}) or data ->> '$.customer.id' in (${mergedInto(id)})`,
      },
      eraseEntries(id, ofKeys, entries),
      {
        head: sql`update api_keys set name = id, note = null, search = id, version = ${versionOf(made)}`,
        where: sql`customer_id = ${id}`,
      },
      {
        head: sql`update customers set name = id, name_key = id, search = '', email = null, note = null,
          erased_at = ${author.at}, version = ${versionOf(made)}`,
        where: sql`id = ${id}`,
      },
    ],
  });
  return { ...now, says: says() };
}

export async function previewErasure(input: ChangeInput): Promise<string[]> {
  const { name } = await requireCustomer(openDatabase(input.env.DB), input.id);
  await eraseCustomer({ ...input, isDryRun: true });
  return [
    `The name, the e-mail address and the note of ${name} are deleted, the names and notes of its revoked keys, its alerts, and all of these in the audit log.`,
    "Its use and its bans stay, without a name. A reason that an operator typed for a ban or a limit stays, too.",
    "Backups that were made before still have everything. This cannot be undone.",
  ];
}

/** Why the customer cannot be erased, as SQL. */
function keysLeft(id: string): SQL {
  return sql`(
    select 'has ' || max(total) || iif(max(total) = 1, ' key', ' keys') || ' to revoke first: '
      || group_concat(name, ', ') || iif(max(total) > ${KEYS_NAMED}, ' and others', '')
    from (select name, count(*) over () as total from api_keys where customer_id = ${id} and status <> 'revoked'
      order by name, id limit ${KEYS_NAMED}))`;
}

/** A trigger of the audit log lets exactly this change through. */
function eraseEntries(id: string, ofKeys: SQL, entries: readonly number[]) {
  const members = ["name", "email", "note", "ownerName", "ownerEmail", "owner"];
  const paths = sql.raw(members.map((member) => `'$.${member}', 'erased'`).join(", "));
  return {
    head: sql`
      update audit_log set before = json_replace(before, ${paths}), after = json_replace(after, ${paths}),
        actor = iif(actor glob 'owner (*)' and actor not glob 'owner (cus_*)', 'owner (erased)', actor)`,
    where: sql`object in (${mergedInto(id)}) or object in (${ofKeys})
      or id in (select value from json_each(${JSON.stringify(entries)}))`,
  };
}

/** The id of the customer, and of all who were merged into it. */
function mergedInto(id: string): SQL {
  return sql`
    with recursive merged (id) as (
      select ${id} union
      select object from audit_log join merged on audit_log.call = 'customers.merge' and after ->> '$.into' = merged.id)
    select id from merged`;
}

/** Before version 2.3, entries had the name and the address of the owner. Returns the entries with one of this customer. */
async function findEntriesOfOwner(db: Database, id: string): Promise<number[]> {
  const own = await db.all<{ name: string | null; email: string | null }>(sql`
    select name, email from customers where id = ${id}
    union select value ->> '$.name', value ->> '$.email' from audit_log, json_each(json_array(json(before), json(after)))
      where object in (${mergedInto(id)}) and value is not null`);
  const folded = (texts: readonly (string | null)[]) =>
    texts.flatMap((text) => (text === null ? [] : foldCase(text)));
  const sought = new Set(own.flatMap(({ name, email }) => folded([name, email])));
  const side = (json: SQL) =>
    sql`${json} ->> '$.ownerName', ${json} ->> '$.ownerEmail', ${json} ->> '$.owner'`;
  const entries = await db.all<{ id: number; texts: string }>(sql`
    select id, json_array(${side(sql`before`)}, ${side(sql`after`)}, iif(actor glob 'owner (*)', substr(actor, 8, length(actor) - 8), null)) as texts
    from audit_log where instr(before, '"owner') > 0 or instr(after, '"owner') > 0 or actor glob 'owner (*)'`);
  const isOfOwner = (texts: string) => folded(JSON.parse(texts)).some((text) => sought.has(text));
  return entries.filter(({ texts }) => isOfOwner(texts)).map((entry) => entry.id);
}
