/** D1: how many keys and live bans there are. */
import { sql } from "drizzle-orm";
import type { Database } from "../../db/database.ts";
import { bans } from "../../db/schema.ts";
import { statusAt } from "../../key/status-sql.ts";
import { isLive } from "../bans/sql.ts";

type Count = { readonly label: string; readonly count: number };

export async function countKeysByStatus(db: Database, nowSeconds: number): Promise<Count[]> {
  return db.all<Count>(
    sql`select ${statusAt(nowSeconds)} as label, count(*) as count from api_keys k group by 1`,
  );
}

export async function countLiveBansByCause(db: Database, nowSeconds: number): Promise<Count[]> {
  return db.all<Count>(
    sql`select cause as label, count(*) as count from ${bans} where ${isLive(nowSeconds)} group by 1`,
  );
}
