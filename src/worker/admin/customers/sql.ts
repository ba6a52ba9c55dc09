/** D1: reads customers in the form that the admin API shows. */
import { getTableColumns, type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type * as v from "valibot";
import { idOfCustomer } from "../../db/customers-sql.ts";
import { type Database, isRefusedBy, membersSql, rfc3339Sql } from "../../db/database.ts";
import { customers } from "../../db/schema.ts";
import { conflict, notFound } from "../../platform/errors.ts";
import { foldCase, foldForSearch } from "../../text/text.ts";
import type { Kind, Target } from "../change.ts";
import { type CustomerView, customerView, type newCustomer } from "./schema.ts";

const MEMBERS = membersSql(alias(customers, "c"), customerView, {
  createdAt: rfc3339Sql(sql`c.created_at`),
  erasedAt: rfc3339Sql(sql`c.erased_at`),
  keys: sql`(select count(*) from api_keys where customer_id = c.id and status <> 'revoked')`,
});
const SELECT = sql`select ${MEMBERS} from customers c`;

export async function requireCustomer(db: Database, idOrName: string): Promise<CustomerView> {
  const found = await db.get<CustomerView | undefined>(sql`${SELECT} where c.id = ${idOfCustomer(idOrName)}`);
  if (found === undefined) throw notFound("No customer has this id or name.");
  return found;
}

/** Reads these customers, by their ids. */
export async function findCustomers(
  db: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, CustomerView>> {
  const rows = await db.all<CustomerView>(
    sql`${SELECT} where c.id in (select value from json_each(${JSON.stringify(ids)}))`,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** Finds customers by a part of a name, an address or a note, or by the id. */
export function searchCustomers(db: Database, text: string, limit: number): Promise<CustomerView[]> {
  return db.all<CustomerView>(sql`${SELECT} where ${isSought(text)} order by c.name limit ${limit}`);
}

/** The condition that a customer `c` matches: `search` is a part of a name, an address or a note, or an id. */
export function isSought(search: string | undefined, id?: string): SQL {
  const isId = id === undefined ? sql`true` : sql`c.id = ${id}`;
  if (search === undefined) return isId;
  return sql`${isId} and (
    instr(c.search, ${foldForSearch(search)}) > 0 or instr(c.search, lower(${search})) > 0 or c.id = ${search})`;
}

export const CUSTOMERS = {
  table: customers,
  noun: "customer",
  title: sql`customers.name`,
  members: getTableColumns(customers),
} satisfies Kind;

export function customerTarget(id: string): Target<CustomerView, CustomerView> {
  return { kind: CUSTOMERS, id, select: sql`${SELECT} where c.id = ${id}`, view: (row) => row };
}

export type CustomerTexts = Pick<v.InferOutput<typeof newCustomer>, "name" | "email" | "note">;

/** The columns of the texts. */
export function textColumns({ name, email = null, note = null }: CustomerTexts) {
  const search = [name, email, note].map((text) => foldForSearch(text ?? "")).join("\n");
  return { name, nameKey: foldCase(name), email, note, search };
}

/** Awaits the change. Throws a 409 if another customer has the name. */
export async function conflictOnName<T>(change: Promise<T>): Promise<T> {
  try {
    return await change;
  } catch (thrown) {
    if (!isRefusedBy("customers.name_key", thrown)) throw thrown;
    throw conflict("Another customer has this name. Choose another name, or merge the two customers.");
  }
}
