/** D1: the MAC keys, which sign API keys (ADR-2). The migration makes the first MAC key. */
import { desc } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { macKeys } from "../db/schema.ts";

/** Returns the MAC keys in hex, newest first. */
export async function readMacKeys(db: Database): Promise<string[]> {
  const rows = await db.select({ key: macKeys.key }).from(macKeys).orderBy(desc(macKeys.id));
  return rows.map(({ key }) => key);
}
