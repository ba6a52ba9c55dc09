/** D1 sessions: which copy of the database answers (ADR-19). Without read replication there is only the primary. */
import { type Bindings, settingsOf } from "../context.ts";
import type { Bookmark } from "../limiter/core/bookmark.ts";
import { logError } from "../log.ts";
import { TimeoutError, withTimeout } from "../with-timeout.ts";
import { type Database, isDatabaseOutage, isRefusedByDatabase, openDatabase } from "./database.ts";

/** A lookup of a key has a second left for the primary. The longest read, of 14 MB, takes some 1.5 seconds. */
export const MAX_REPLICA_MS = 2_000;

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
 * Reads from the nearest copy that has the state of `atLeast`, from the primary if that copy fails or hangs. Without a bookmark the
 * copy may be as old as its replication lag, which D1 does not bound.
 */
export async function readNearest<T>(
  env: Bindings,
  atLeast: Bookmark | undefined,
  read: (session: Session) => Promise<T>,
): Promise<T> {
  if (!settingsOf(env).readsFromReplicas) return read(openPrimarySession(env));
  try {
    const session = openSession(env, atLeast ?? "first-unconstrained");
    return await withTimeout(read(session), MAX_REPLICA_MS);
  } catch (thrown) {
    // It refuses SQL that needs a migration which it does not have yet.
    const isReplaced =
      thrown instanceof TimeoutError || isDatabaseOutage(thrown) || isRefusedByDatabase(thrown);
    if (!isReplaced) throw thrown;
    logError("replica_failed", thrown);
    return read(openPrimarySession(env));
  }
}

function openSession(env: Bindings, start: D1SessionConstraint | Bookmark): Session {
  if (!settingsOf(env).readsFromReplicas) return { db: openDatabase(env.DB), bookmark: () => undefined };
  const session = env.DB.withSession(start);
  return { db: openDatabase(session), bookmark: () => session.getBookmark() ?? undefined };
}
