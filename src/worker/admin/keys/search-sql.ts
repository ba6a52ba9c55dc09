/** D1: finds keys by their secrets. */
import { sql } from "drizzle-orm";
import type { Database } from "../../db/database.ts";

export async function listKeyIdsByHash(db: Database, hash: string): Promise<string[]> {
  const rows = await db.all<{ id: string }>(sql`select key_id as id from key_secrets where hash = ${hash}`);
  return rows.map(({ id }) => id);
}

/** The last four characters are searched in any case: read out, an upper-case letter is easily lost. */
export async function listKeyIdsByLastChars(
  db: Database,
  hint: { readonly beginning: string; readonly lastChars: string },
  maxKeys: number,
): Promise<string[]> {
  const rows = await db.all<{ id: string }>(sql`
    select key_id as id from key_secrets
    where substr(hint, -4) = ${hint.lastChars} collate nocase and instr(hint, ${hint.beginning}) = 1
    limit ${maxKeys}`);
  return [...new Set(rows.map(({ id }) => id))];
}
