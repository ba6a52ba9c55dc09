/** Asks D1 and a limiter whether they answer. */
import { type DatabaseEnv, hasNoTables, MAKE_TABLES, openDatabase } from "../db/database.ts";
import { logError } from "../platform/log.ts";
import { withTimeout } from "../platform/with-timeout.ts";
import { countOutdatedKeys } from "./outdated-keys-sql.ts";
import type { LimiterNamespace } from "./reach-limiter.ts";

export const CHECK_TIMEOUT_MS = 2_000;

/** The name of a limiter that no key has. `forget` stores nothing there. */
const PROBED_LIMITER = "health";

export type Health = {
  /** The parts that cannot be reached. Empty if all is well. */
  readonly failures: readonly string[];
  /** Whether D1 and the limiter can be reached. */
  readonly reached: { readonly database: boolean; readonly limiter: boolean };
  /** Keys whose limiters have not been told of a change. */
  readonly outdatedKeys: number;
};

export async function healthOf(env: DatabaseEnv & LimiterNamespace): Promise<Health> {
  const count = countOutdatedKeys(openDatabase(env.DB));
  const [database, limiter] = await Promise.all([
    nameIfFailed("database", count),
    nameIfFailed("limiter", env.KEY_LIMITER.getByName(PROBED_LIMITER).forget()),
  ]);
  return {
    failures: [database, limiter].filter((name) => name !== undefined),
    reached: { database: database === undefined, limiter: limiter === undefined },
    outdatedKeys: database === undefined ? await count : 0,
  };
}

async function nameIfFailed(name: string, call: Promise<unknown>): Promise<string | undefined> {
  try {
    await withTimeout(call, CHECK_TIMEOUT_MS);
    return undefined;
  } catch (thrown) {
    logError("health_check_failed", thrown, { name });
    return hasNoTables(thrown) ? `${name}, which has no tables: ${MAKE_TABLES}` : name;
  }
}
