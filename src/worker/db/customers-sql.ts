/** D1: reads a customer from what somebody typed: an id, or a name in any case. Every call and page does it so. */
import { sql } from "drizzle-orm";
import { invalidMembers } from "../platform/errors.ts";
import { foldCase } from "../text/text.ts";
import type { Database } from "./database.ts";

/** JSON of the customer `c` as a key shows it, or `null`. */
export const CUSTOMER_JSON = sql`iif(c.id is null, 'null', json_object('id', c.id, 'name', c.name, 'email', c.email))`;

/** The id of the customer, or NULL. */
export function idOfCustomer(text: string) {
  return sql`(select id from customers where id = ${text} or name_key = ${foldCase(text)} order by id = ${text} desc limit 1)`;
}

/** Returns the id. Throws the 400 that names the member if there is no such customer. */
export async function namedCustomer(db: Database, text: string, member = "customer"): Promise<string> {
  const { id } = await db.get<{ id: string | null }>(sql`select ${idOfCustomer(text)} as id`);
  if (id === null) throw invalidMembers({ member, reason: "no customer has this id or name" });
  return id;
}

/** Returns the present names by the ids. What is no id of a customer is left out. */
export async function namesOfCustomers(
  db: Database,
  ids: readonly unknown[],
): Promise<Readonly<Record<string, string>>> {
  const texts = ids.filter((id) => typeof id === "string");
  if (texts.length === 0) return {};
  const rows = await db.all<{ id: string; name: string }>(
    sql`select id, name from customers where id in (select value from json_each(${JSON.stringify(texts)}))`,
  );
  return Object.fromEntries(rows.map(({ id, name }) => [id, name]));
}

/** Returns the query with the id of the customer whom it names. */
export async function withCustomerId<Query extends { readonly customer?: string | undefined }>(
  db: Database,
  query: Query,
): Promise<Query> {
  if (query.customer === undefined) return query;
  return { ...query, customer: await namedCustomer(db, query.customer) };
}
