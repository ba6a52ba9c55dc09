/** The database of the service: the project's migrations, keys and orders. */
import { join } from "node:path";
import { readD1Migrations } from "@cloudflare/vitest-plugin";
import { mintKey, SET_MAC_KEY } from "../support/mint.ts";
import { ROOT } from "./build.ts";

/** What Miniflare gives for a D1 binding. */
type Database = Pick<D1Database, "prepare" | "batch">;

/** Leaves a database that was migrated before as it is. */
export async function migrate(db: Database): Promise<void> {
  const table = db.prepare("select 1 from sqlite_master where name = 'api_keys'");
  if ((await table.first()) !== null) return;
  for (const migration of await readD1Migrations(join(ROOT, "migrations"))) {
    for (const query of migration.queries) await db.prepare(query).run();
  }
  await db.prepare(SET_MAC_KEY).run();
}

export async function createKey(
  db: Database,
  { perMinute, perDay }: { perMinute: number; perDay: number },
): Promise<string> {
  const { id, key, hash, hint } = await mintKey();
  const insertKey = db.prepare(
    `insert into api_keys (id, name, plan, requests_per_minute, requests_per_day, created_at)
     values (?, 'bench', 'enterprise', ?, ?, 0)`,
  );
  const insertSecret = db.prepare(
    "insert into key_secrets (hash, key_id, hint, created_at) values (?, ?, ?, 0)",
  );
  await db.batch([insertKey.bind(id, perMinute, perDay), insertSecret.bind(hash, id, hint)]);
  return `Bearer ${key}`;
}

/** A statement of D1 may run for 30 s. */
const ORDERS_PER_STATEMENT = 50_000;

export async function insertOrders(db: Database, count: number): Promise<void> {
  for (let first = 1; first <= count; first += ORDERS_PER_STATEMENT) {
    const last = Math.min(first + ORDERS_PER_STATEMENT - 1, count);
    await db
      .prepare(
        `with recursive n (i) as (select ${first} union all select i + 1 from n where i < ${last})
         insert into orders (id, pet_id, quantity, ship_date, complete)
         select i, i % 5000, 1 + i % 9, '2026-01-01T00:00:00.000Z', i % 2 from n`,
      )
      .run();
  }
}
