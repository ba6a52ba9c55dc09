/** D1: things that no list of their own room finds by a text. */
import { sql } from "drizzle-orm";
import { type Database, rfc3339Sql } from "../../db/database.ts";

export type Cancelled = { readonly at: string; readonly keyName: string | null };

type Link = Readonly<Record<"id" | "name" | "detail", string>>;

/** The last cancel of this order. */
export function findCancelled(db: Database, orderId: string): Promise<Cancelled | undefined> {
  return db.get<Cancelled | undefined>(sql`
    select ${rfc3339Sql(sql`cancelled_at`)} as at, (select name from api_keys where id = cancelled_by) as keyName
    from cancelled_orders where order_id = ${orderId} order by id desc limit 1`);
}

export function findLink(db: Database, id: string): Promise<Link | undefined> {
  return db.get(sql`
    select c.id, l.id as name, 'for ' || c.name || ', by ' || l.created_by as detail
    from owner_links l join customers c on c.id = l.customer_id where l.id = ${id}`);
}
