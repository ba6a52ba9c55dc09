/** D1 sessions: which copy of the database answers (ADR-19). Without read replication: the primary. */
import type { Bindings } from "../context.ts";
import { logError } from "../log.ts";
import { settingsOf } from "../settings.ts";
import { type Database, isDatabaseOutage, isRefusedByDatabase, openDatabase } from "./database.ts";

/** A session that begins at a bookmark reads no earlier state. Bookmarks of one database sort as text. */
export type Bookmark = string;

/** The later of two bookmarks; undefined if there is none. */
export function laterBookmark(a: Bookmark | undefined, b: Bookmark | undefined): Bookmark | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a > b ? a : b;
}

export type Session = {
  readonly db: Database;
  /** The latest state that the session has read or written; undefined before its first query and without replication. */
  bookmark(): Bookmark | undefined;
};

/** A session whose first query goes to the primary. */
export function openPrimarySession(env: Bindings): Session {
  return openSession(env, "first-primary");
}

/**
 * Reads from the nearest copy that has the state of `atLeast`, from the primary if that copy fails. Without a bookmark the
 * copy may be as old as its replication lag, which D1 does not bound.
 */
export async function readNearest<T>(
  env: Bindings,
  atLeast: Bookmark | undefined,
  read: (session: Session) => Promise<T>,
): Promise<T> {
  if (!settingsOf(env).readsFromReplicas) return read(openPrimarySession(env));
  try {
    return await read(openSession(env, atLeast ?? "first-unconstrained"));
  } catch (thrown) {
    // It refuses SQL that needs a migration which it does not have yet.
    if (!isDatabaseOutage(thrown) && !isRefusedByDatabase(thrown)) throw thrown;
    logError("replica_failed", thrown);
    return read(openPrimarySession(env));
  }
}

function openSession(env: Bindings, start: D1SessionConstraint | Bookmark): Session {
  if (!settingsOf(env).readsFromReplicas) return { db: openDatabase(env.DB), bookmark: () => undefined };
  const session = env.DB.withSession(start);
  return { db: openDatabase(session), bookmark: () => session.getBookmark() ?? undefined };
}
