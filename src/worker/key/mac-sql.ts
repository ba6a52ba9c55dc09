/** D1: the MAC keys, which sign API keys (ADR-2). The migration makes the first MAC key. */
import { sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";

/** Returns the MAC keys in hex, newest first. */
export async function readMacKeys(db: Database): Promise<string[]> {
  const rows = await db.all<{ key: string }>(sql`select key from mac_keys order by id desc`);
  return rows.map(({ key }) => key);
}
