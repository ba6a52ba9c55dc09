/** D1: the keys whose limiters have not been told of a change. Triggers write the rows (ADR-4). */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import type { Location } from "./key.ts";

export type KeysToRefresh =
  | { readonly key: string }
  | { readonly keys: readonly string[] }
  | { readonly plan: string }
  | { readonly customer: string }
  | "all";

export type OutdatedKey = {
  readonly id: string;
  readonly location: Location | null;
  readonly token: string;
  /** How many keys of the query are outdated. */
  readonly outdated: number;
};

/** The order is random, so that limiters that cannot be reached do not keep the other limiters waiting. */
export async function listOutdatedKeys(
  db: Database,
  keys: KeysToRefresh,
  limit: number,
): Promise<OutdatedKey[]> {
  // A left join: a customer has a limiter, too, and so has a key that was deleted with plain SQL.
  return db.all<OutdatedKey>(sql`
    select u.key_id as id, k.location, u.token, count(*) over () as outdated
    from outdated_keys u left join api_keys k on k.id = u.key_id
    where ${isAmong(keys)} order by random() limit ${limit}`);
}

/** Deletes the rows of keys whose limiters were refreshed. A key that has changed since then keeps its row. */
export async function deleteRefreshedKeys(db: Database, refreshed: readonly OutdatedKey[]): Promise<void> {
  const rows = JSON.stringify(refreshed.map(({ id, token }) => [id, token]));
  await db.run(sql`
    delete from outdated_keys
    where (key_id, token) in (select value ->> 0, value ->> 1 from json_each(${rows}))`);
}

type KeyUse = { readonly id: string; readonly firstUsedAt?: string | null };

/** Whether a limiter of this key or customer has read a policy. A call of another object would create the limiter. */
export async function hasLimiter(db: Database, { id, firstUsedAt = null }: KeyUse): Promise<boolean> {
  if (firstUsedAt !== null) return true;
  return (await db.get(sql`select 1 from limiters where key_id = ${id}`)) !== undefined;
}

export async function countOutdatedKeys(db: Database): Promise<number> {
  return (await db.get<{ n: number }>(sql`select count(*) as n from outdated_keys`)).n;
}

function isAmong(keys: KeysToRefresh): SQL {
  if (keys === "all") return sql`true`;
  if ("keys" in keys) return sql`k.id in (select value from json_each(${JSON.stringify(keys.keys)}))`;
  if ("customer" in keys) return sql`(u.key_id = ${keys.customer} or k.customer_id = ${keys.customer})`;
  return "key" in keys ? sql`k.id = ${keys.key}` : sql`${keys.plan} in (k.plan, k.next_plan)`;
}
