/** SQL of what a key is now, which time and bans make of its stored status. */
import { type SQL, sql } from "drizzle-orm";

/** The status of the key `k`. */
export function statusAt(nowSeconds: number): SQL {
  return sql`case
    when k.status <> 'active' then k.status
    when k.expires_at <= ${nowSeconds} then 'expired'
    when exists (select 1 from bans where ${isOfKeyAndLive(nowSeconds)}) then 'banned'
    else 'active' end`;
}

/** Whether a ban is of the key `k`, and live. */
export function isOfKeyAndLive(nowSeconds: number): SQL {
  return sql`key_id = k.id and ends_at > ${nowSeconds} and lifted_at is null`;
}
