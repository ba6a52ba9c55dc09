/** D1: what a line of time needs beside audit log, bans and usage. */
import { sql } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { SECRET_ID_CHARS } from "../../key/key.ts";
import { isIn, type UsageFilter, type UsageRange } from "../usage/sql.ts";

type SecretUse = { readonly keyId: string; readonly hint: string; readonly at: number };

/** The last use of each secret on a day. */
export function listSecretUses(db: Database, filter: UsageFilter): Promise<SecretUse[]> {
  return db.all<SecretUse>(sql`
    select u.key_id as keyId, s.value as at, coalesce(
      (select hint from key_secrets where key_id = u.key_id and substr(hash, 1, ${SECRET_ID_CHARS}) = s.key), s.key) as hint
    from usage u cross join json_each(u.secrets) s
    where ${isIn(filter)} and s.value >= ${filter.fromSeconds} and s.value < ${filter.toSeconds}`);
}

type Cancel = { readonly keyId: string; readonly orderId: string; readonly at: number };

/** The last orders that these keys cancelled in a range. */
export function listCancels(
  db: Database,
  keys: readonly string[],
  { fromSeconds, toSeconds }: UsageRange,
  limit: number,
): Promise<Cancel[]> {
  return db.all<Cancel>(sql`
    select c.cancelled_by as keyId, cast(c.order_id as text) as orderId, c.cancelled_at as at
    from json_each(${JSON.stringify(keys)}) k cross join cancelled_orders c on c.cancelled_by = k.value
    where c.cancelled_at >= ${fromSeconds} and c.cancelled_at < ${toSeconds} order by c.id desc limit ${limit}`);
}

/** The names of keys: of this one, or of all that are the customer's or have use of it in the range. */
export async function listKeyNames(db: Database, filter: UsageFilter): Promise<ReadonlyMap<string, string>> {
  const { key = null, customer = null } = filter;
  const rows = await db.all<{ id: string; name: string }>(sql`
    select id, name from api_keys where id = ${key} or customer_id = ${customer}
    union select id, name from api_keys where id in (select u.key_id from usage u where ${isIn(filter)})`);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
