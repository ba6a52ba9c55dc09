/** Finds the customer whom the change of a key names, or creates it in the transaction of that change. */
import { type SQL, sql } from "drizzle-orm";
import type { Author } from "../../../context.ts";
import { idOfCustomer } from "../../../db/customers-sql.ts";
import type { Conditional, Database } from "../../../db/database.ts";
import { customers } from "../../../db/schema.ts";
import { isCustomerId, mintCustomerId } from "../../../key/key.ts";
import { randomBytes } from "../../../key/mac.ts";
import { invalidMembers } from "../../../platform/errors.ts";
import { check } from "../../../text/check-schema.ts";
import { insertRow, type Made } from "../../change.ts";
import { customerRefusal } from "../../refusal-sql.ts";
import { newCustomer } from "../schema.ts";
import { textColumns } from "../sql.ts";

export type NamedCustomer = {
  /** The id when the transaction runs, or NULL. */
  readonly id: SQL;
  /** Why the key cannot have this customer: it was merged or erased meanwhile. */
  readonly refused: SQL;
  /** Statements before those of the key. The entry of the key has the id as `customer`. */
  readonly statements: (made: Made) => readonly Conditional[];
  /** The id of the customer if the transaction creates it. */
  readonly newId?: string;
};

/** The text is an id, or a name in any case. */
export async function nameCustomer(
  db: Database,
  author: Author,
  text: string | null,
): Promise<NamedCustomer> {
  const none = { refused: sql`null`, statements: () => [] };
  if (text === null) return { ...none, id: sql`null` };
  const found = await db.get<{ id: string; isErased: 0 | 1 } | undefined>(
    sql`select id, erased_at is not null as isErased from customers where id = ${idOfCustomer(text)}`,
  );
  if (found?.isErased) throw refusal("this customer is erased");
  if (found) return { ...none, id: sql`${found.id}`, refused: customerRefusal(sql`${found.id}`) };
  if (isCustomerId(text)) throw refusal("no customer has this id");
  const checked = check(newCustomer, { name: text });
  if (!checked.ok) throw refusal(checked.problems[0]?.reason ?? "");
  const newId = mintCustomerId(randomBytes);
  // Another request may have created the customer meanwhile. Then its id is the one that the entry has.
  return {
    ...none,
    newId,
    id: sql`coalesce(${idOfCustomer(text)}, ${newId})`,
    statements: (made) => insertCustomer(made, author, newId, text),
  };
}

function insertCustomer(made: Made, { at, requestId, actor }: Author, id: string, name: string) {
  const isNew = sql`(select after ->> 'customer' from ${made}) = ${id}`;
  const values = { ...textColumns({ name }), id, createdAt: at };
  const version = sql`(select id from audit_log where object = ${id})`;
  return [
    {
      head: sql`
        insert into audit_log (at, request_id, actor, call, object, after)
        select cast(${at} as integer), ${requestId}, ${actor}, 'customers.create', ${id}, ${JSON.stringify({ name })}`,
      where: isNew,
    },
    { ...insertRow(customers, { ...values, version }), where: isNew },
  ];
}

function refusal(reason: string) {
  return invalidMembers({ member: "customer", reason });
}
