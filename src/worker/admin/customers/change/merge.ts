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
import type { merged, merger } from "../schema.ts";
import { customerTarget, requireCustomer } from "../sql.ts";

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
    before: ["name", "email", "note", "requestsPerMinute", "requestsPerDay"],
    after: { into: into.id },
    refused: sql`coalesce(${ERASED}, iif(${isThere}, null, 'cannot become one with a customer that is erased or merged'))`,
    statements: (made) => [
      // With the keys the links go: a trigger ends those of a customer without keys.
      move(sql`api_keys`, sql`, version = ${versionOf(made)}`),
      move(sql`usage`),
      move(sql`bans`),
      { head: sql`delete from customers`, where: sql`id = ${from.id}` },
    ],
    removes: true,
  });
  return { from, into, says };
}

export async function previewMerge(input: MergeInput): Promise<string[]> {
  const { from, into } = await merge({ ...input, isDryRun: true });
  const [limit, limitGone] = [into, from].map(({ requestsPerMinute, requestsPerDay }) =>
    listOf(Object.entries({ requestsPerMinute, requestsPerDay })),
  );
  const gone = [from.email, from.note, limitGone].filter(Boolean);
  return [
    `${counted(from.keys, "key")} of ${from.name}, its revoked keys, its use and its bans become those of ${into.name}.`,
    ...(limit ? [`The limit of ${into.name} over all its keys is theirs, too: ${limit}.`] : []),
    `${from.name} is no customer any more, and its links end.`,
    ...(gone.length === 0 ? [] : [`This goes, and only the audit log has it then: ${gone.join("; ")}`]),
    "This cannot be undone.",
  ];
}
