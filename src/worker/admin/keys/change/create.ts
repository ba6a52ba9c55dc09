/** Creates keys. */
import { type SQL, sql } from "drizzle-orm";
import type * as v from "valibot";
import { openDatabase } from "../../../db/database.ts";
import { apiKeys, keySecrets } from "../../../db/schema.ts";
import { conflict } from "../../../platform/errors.ts";
import { sentenceOf } from "../../../text/says.ts";
import { foldForSearch } from "../../../text/text.ts";
import { rfc3339OrNull } from "../../../text/time.ts";
import { type ChangeInput, create, insertRow, versionOf } from "../../change.ts";
import { type NamedCustomer, nameCustomer } from "../../customers/change/name.ts";
import { refreshAtOnce } from "../../refresh-limiters.ts";
import { limitsRefusal } from "../../refusal-sql.ts";
import { SAYS } from "../../says.ts";
import { mintSecret, newKeyId } from "../mint.ts";
import type { issuedKey, KeyView, newKey } from "../schema.ts";
import { keyTarget } from "../sql.ts";

export type KeyChanges = Partial<typeof apiKeys.$inferInsert>;

export async function issueKey(
  input: Pick<ChangeInput<v.InferOutput<typeof newKey>>, "env" | "author" | "body">,
): Promise<v.InferOutput<typeof issuedKey>> {
  const { env, author, body } = input;
  const { id = newKeyId(), customer: named = null, ...fields } = body;
  const { name, plan, requestsPerMinute = null, requestsPerDay = null, location = null } = fields;
  const customer = await nameCustomer(openDatabase(env.DB), author, named);
  const { key, row } = await mintSecret(env, { id, location }, author.at);
  const created = await create(input, keyTarget(id, author.at), {
    call: "keys.create",
    after: withCustomer({ ...toAuditFields(fields), hint: row.hint }, customer),
    refused: sql`coalesce(${limitsRefusal(plan, requestsPerMinute, requestsPerDay)}, ${customer.refused})`,
    statements: (made) => [
      ...customer.statements(made),
      insertRow(apiKeys, {
        ...{ ...fields, ...foldedOf(fields), id, createdAt: author.at, version: versionOf(made) },
        customer: sql`(select after ->> 'customer' from ${made})`,
      }),
      insertRow(keySecrets, row),
    ],
  });
  if (created === undefined) throw conflict(`Key ${id} exists already.`);
  // A key with this id may have been deleted, and its limiter still have the old policy.
  if (body.id !== undefined) await refreshAtOnce(env, { key: id });
  const { now, entry } = created;
  // The entry has the limits of its own that the key has, and the sentence says the limits in force.
  const says = SAYS["keys.create"]({}, { ...entry.after, limits: now.limits });
  const isNew = createdFor(now, customer);
  return { ...now, ...isNew, says: sentenceOf(`${name} (${id})`, says) + isNew.says, key };
}

/** Adds the id of the customer, which only the transaction knows, for the audit log. */
export function withCustomer(fields: Readonly<Record<string, unknown>>, { id }: NamedCustomer): SQL {
  return sql`json_set(${JSON.stringify(fields)}, '$.customer', ${id})`;
}

/** What an answer says besides if the change has created the customer. */
export function createdFor({ customer }: KeyView, named: NamedCustomer | undefined) {
  if (customer === null || customer.id !== named?.newId) return { says: "" };
  return { customerCreated: true as const, says: ` ${customer.name} is a new customer.` };
}

type Texts = Pick<KeyChanges, "name" | "note">;

/** The texts of which a key has folded ones, too. */
export const FOLDED: readonly string[] = ["name", "note"];

/** Returns the column that a search compares. */
export function foldedOf({ name, note }: Texts): KeyChanges {
  return { search: [name, note].map((text) => foldForSearch(text ?? "")).join("\n") };
}

/** The members as the audit log has them. */
export function toAuditFields({ expiresAt, ...fields }: KeyChanges): Record<string, unknown> {
  return expiresAt === undefined ? fields : { ...fields, expiresAt: rfc3339OrNull(expiresAt) };
}
