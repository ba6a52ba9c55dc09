/** D1: the sessions of the console. */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";

type ConsoleSession = {
  readonly name: string | null;
  readonly tokenHash: string;
  readonly endsAt: number;
  readonly seenAt: number;
};

/** Finds a session that has not ended and was used after `seenAfterSeconds`. */
export async function findSession(
  db: Database,
  idHash: string,
  nowSeconds: number,
  seenAfterSeconds: number,
): Promise<ConsoleSession | undefined> {
  return db.get<ConsoleSession | undefined>(sql`
    select name, token_hash as tokenHash, ends_at as endsAt, seen_at as seenAt from console_sessions
    where id_hash = ${idHash} and ends_at > ${nowSeconds} and seen_at > ${seenAfterSeconds}`);
}

export function insertSession(idHash: string, { name, tokenHash, endsAt, seenAt }: ConsoleSession): SQL {
  return sql`
    insert into console_sessions (id_hash, name, token_hash, ends_at, seen_at)
    values (${idHash}, ${name}, ${tokenHash}, ${endsAt}, ${seenAt})`;
}

export function updateSeenAt(idHash: string, seenAt: number): SQL {
  return sql`update console_sessions set seen_at = ${seenAt} where id_hash = ${idHash}`;
}

export function deleteSession(idHash: string): SQL {
  return sql`delete from console_sessions where id_hash = ${idHash}`;
}
