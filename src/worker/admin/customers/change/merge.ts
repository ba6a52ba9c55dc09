/** Merges a customer into another one, which then has all its keys, its use and its bans. */
import { type SQL, sql } from "drizzle-orm";
import type * as v from "valibot";
import { namedCustomer } from "../../../db/customers-sql.ts";
import { openDatabase } from "../../../db/database.ts";
import { invalidMembers } from "../../../platform/errors.ts";
import { counted } from "../../../text/format.ts";
import { listOf } from "../../../text/says.ts";
import { type ChangeInput, make, versionOf } from "../../change.ts";
import { refreshAtOnce } from "../../refresh-limiters.ts";
import { ERASED } from "../../refusal-sql.ts";
import { type merged, type merger, newCustomer } from "../schema.ts";
import { customerTarget, requireCustomer } from "../sql.ts";

const MEMBERS = Object.keys(newCustomer.entries);

type MergeInput = ChangeInput<v.InferOutput<typeof merger>>;

export async function mergeCustomer(input: MergeInput): Promise<v.InferOutput<typeof merged>> {
  const { env } = input;
  const { into, says } = await merge(input);
  const effective = await refreshAtOnce(env, { customer: into.id });
  return { into: await requireCustomer(openDatabase(env.DB), into.id), effective, says: says(effective) };
}

async function merge(input: MergeInput) {
  const db = openDatabase(input.env.DB);
  const from = await requireCustomer(db, input.id);
  const into = await requireCustomer(db, await namedCustomer(db, input.body.into, "into"));
  if (into.id === from.id) throw invalidMembers({ member: "into", reason: "must be another customer" });
  const move = (table: SQL, others = sql``) => ({
    head: sql`update ${table} set customer_id = ${into.id} ${others}`,
    where: sql`customer_id = ${from.id}`,
  });
  const isThere = sql`exists (select 1 from customers where id = ${into.id} and erased_at is null)`;
  const { says } = await make(input, customerTarget(from.id), {
    call: "customers.merge",
    before: MEMBERS,
    after: { into: into.id },
    refused: sql`coalesce(${ERASED}, iif(${isThere}, null, 'cannot become one with a customer that is erased or merged'))`,
    statements: (made) => [
      // With the keys the links go: a trigger ends those of a customer without keys.
      move(sql`api_keys`, sql`, version = ${versionOf(made)}`),
      ...moveSums(from.id, into.id),
      move(sql`usage`),
      move(sql`bans`),
      { head: sql`delete from customers`, where: sql`id = ${from.id}` },
    ],
    removes: true,
  });
  return { from, into, says };
}

/** Before the days, as a trigger would else sum a fortnight anew for each day that moves (ADR-41). */
function moveSums(from: string, into: string) {
  const used = sql`select distinct day - day % 1209600, key_id, customer_id from usage where customer_id = ${from}`;
  const where = sql`(start, key_id, customer_id) in (${used})`;
  return [
    {
      head: sql`
        insert into key_fortnights
        select start, key_id, ${into}, plan, limit_per_day, admitted, refused, refused_while_banned, days_near, peak from key_fortnights`,
      where,
      tail: sql`
        on conflict do update set admitted = admitted + excluded.admitted, refused = refused + excluded.refused,
          refused_while_banned = refused_while_banned + excluded.refused_while_banned,
          days_near = days_near + excluded.days_near, peak = max(peak, excluded.peak)`,
    },
    { head: sql`delete from key_fortnights`, where },
  ];
}

export async function previewMerge(input: MergeInput): Promise<string[]> {
  const { from, into } = await merge({ ...input, isDryRun: true });
  const { requestsPerMinute, requestsPerDay } = into;
  const limit = listOf(Object.entries({ requestsPerMinute, requestsPerDay }));
  const gone = listOf(Object.entries(from).filter(([name]) => name !== "name" && MEMBERS.includes(name)));
  return [
    `${counted(from.keys, "key")} of ${from.name}, its revoked keys, its use and its bans become those of ${into.name}.`,
    ...(limit ? [`The limit of ${into.name} over all its keys is theirs, too: ${limit}.`] : []),
    `${from.name} is no customer any more, and its links end.`,
    ...(gone ? [`This goes, and only the audit log has it then: ${gone}`] : []),
    "This cannot be undone.",
  ];
}
