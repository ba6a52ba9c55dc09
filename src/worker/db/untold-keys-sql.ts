/** D1: the keys whose limiters have not been told of a change. Triggers of migrations/ write the rows. */
import { type SQL, sql } from "drizzle-orm";
import type { Location } from "../auth/key.ts";
import type { Database, Statement } from "./database.ts";

export type KeysToTell = { readonly key: string } | { readonly plan: string } | "all";

export type UntoldKey = {
  readonly id: string;
  readonly location: Location | null;
  readonly token: string;
  /** How many of the keys that were asked for are untold. */
  readonly untold: number;
};

/** In random order, so that limiters that cannot be reached do not keep the others waiting. */
export async function listUntoldKeys(db: Database, keys: KeysToTell, limit: number): Promise<UntoldKey[]> {
  // A key that was deleted with plain SQL has a limiter, too.
  return db.all<UntoldKey>(sql`
    select u.key_id as id, k.location, u.token, count(*) over () as untold
    from untold_keys u left join api_keys k on k.id = u.key_id
    where ${isAmong(keys)} order by random() limit ${limit}`);
}

/** A key that has changed since the row was read keeps its row. */
export async function deleteToldKeys(db: Database, told: readonly UntoldKey[]): Promise<void> {
  const rows = JSON.stringify(told.map(({ id, token }) => [id, token]));
  await db.run(sql`
    delete from untold_keys
    where (key_id, token) in (select value ->> 0, value ->> 1 from json_each(${rows}))`);
}

/** Keys that were never used, too: a restored database may have forgotten a first use. */
export function markUntold(keys: KeysToTell): Statement {
  return sql`
    insert into untold_keys (key_id) select k.id from api_keys k where ${isAmong(keys)}
    on conflict do update set token = excluded.token`;
}

export async function countUntoldKeys(db: Database): Promise<number> {
  return (await db.get<{ n: number }>(sql`select count(*) as n from untold_keys`)).n;
}

function isAmong(keys: KeysToTell): SQL {
  if (keys === "all") return sql`true`;
  return "key" in keys ? sql`k.id = ${keys.key}` : sql`k.plan = ${keys.plan}`;
}
