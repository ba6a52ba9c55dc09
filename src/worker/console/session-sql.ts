/** D1: the sessions of the console. */
import { and, eq, gt } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { consoleSessions } from "../db/schema.ts";

type ConsoleSession = typeof consoleSessions.$inferSelect;

/** Finds a session that has not ended and was used after `seenAfterSeconds`. */
export async function findSession(
  db: Database,
  idHash: string,
  nowSeconds: number,
  seenAfterSeconds: number,
): Promise<ConsoleSession | undefined> {
  const { endsAt, seenAt } = consoleSessions;
  const isLive = and(isSession(idHash), gt(endsAt, nowSeconds), gt(seenAt, seenAfterSeconds));
  return db.select().from(consoleSessions).where(isLive).get();
}

export function insertSession(db: Database, session: ConsoleSession) {
  return db.insert(consoleSessions).values(session);
}

export function updateSeenAt(db: Database, idHash: string, seenAt: number) {
  return db.update(consoleSessions).set({ seenAt }).where(isSession(idHash));
}

export function deleteSession(db: Database, idHash: string) {
  return db.delete(consoleSessions).where(isSession(idHash));
}

function isSession(idHash: string) {
  return eq(consoleSessions.idHash, idHash);
}
