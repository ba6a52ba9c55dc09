/** D1 sessions choose the copy of the database (ADR-19). Without read replication the primary answers. */
import { logError } from "../platform/log.ts";
import { settingsOf } from "../platform/settings.ts";
import {
  type Database,
  type DatabaseEnv,
  isDatabaseOutage,
  isRefusedByDatabase,
  openDatabase,
} from "./database.ts";

/** A state of the database. A session from a bookmark reads no earlier state. Bookmarks sort as text. */
export type Bookmark = string;

/** Returns the later bookmark, or undefined if both are undefined. */
export function laterBookmark(a: Bookmark | undefined, b: Bookmark | undefined): Bookmark | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a > b ? a : b;
}

export type DatabaseSession = {
  readonly db: Database;
  /** The latest state that the session has used. Undefined before the first query and without replication. */
  bookmark(): Bookmark | undefined;
};

/** Opens a session whose first query goes to the primary. */
export function openPrimarySession(env: DatabaseEnv): DatabaseSession {
  return openSession(env, "first-primary");
}

/**
 * Reads from the nearest copy that has the state of `atLeast`, or from the primary if that copy fails. If
 * there is no bookmark, the copy may be old: D1 does not bound the replication lag.
 */
export async function readNearest<T>(
  env: DatabaseEnv,
  atLeast: Bookmark | undefined,
  read: (session: DatabaseSession) => Promise<T>,
): Promise<T> {
  if (!settingsOf(env).readsFromReplicas) return read(openPrimarySession(env));
  try {
    return await read(openSession(env, atLeast ?? "first-unconstrained"));
  } catch (thrown) {
    // A copy that lacks the last migration refuses SQL that needs the migration.
    if (!isDatabaseOutage(thrown) && !isRefusedByDatabase(thrown)) throw thrown;
    logError("replica_failed", thrown);
    return read(openPrimarySession(env));
  }
}

function openSession(env: DatabaseEnv, start: D1SessionConstraint | Bookmark): DatabaseSession {
  if (!settingsOf(env).readsFromReplicas) return { db: openDatabase(env.DB), bookmark: () => undefined };
  const session = env.DB.withSession(start);
  return { db: openDatabase(session), bookmark: () => session.getBookmark() ?? undefined };
}
