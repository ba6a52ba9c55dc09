/** D1: the keys of the MAC that API keys carry (ADR-2). The first migration makes one. */
import { desc } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { macKeys } from "../db/schema.ts";

/** Newest first, in hex. */
export async function readMacKeys(db: Database): Promise<string[]> {
  const rows = await db.select({ key: macKeys.key }).from(macKeys).orderBy(desc(macKeys.id));
  return rows.map(({ key }) => key);
}
