/** Whether D1 and a limiter answer. Anyone may ask, so an isolate checks at most once a second. */
import type { Bindings } from "../context.ts";
import { hasNoTables, MAKE_TABLES, openDatabase } from "../db/database.ts";
import { countOutdatedKeys } from "../key/outdated-keys-sql.ts";
import { logError } from "../platform/log.ts";
import { SingleFlight } from "../platform/single-flight.ts";
import { withTimeout } from "../platform/with-timeout.ts";

/** Requests within this time share a result. */
const REPEAT_CHECK_AFTER_MS = 1_000;

const CHECK_TIMEOUT_MS = 2_000;

/** The name of a limiter that no key has. `forget` stores nothing there. */
const PROBED_LIMITER = "health";

export type Health = {
  /** The parts that cannot be reached. Empty if all is well. */
  readonly failures: readonly string[];
  /** Keys whose limiters have not been told of a change. */
  readonly outdatedKeys: number;
};

export class HealthCheck {
  readonly #checks = new SingleFlight<Health>(2 * CHECK_TIMEOUT_MS);
  #last: { readonly health: Health; readonly checkedAtMs: number } | null = null;

  async run(env: Bindings, waitUntil: (promise: Promise<unknown>) => void): Promise<Health> {
    if (this.#last !== null && Math.abs(Date.now() - this.#last.checkedAtMs) < REPEAT_CHECK_AFTER_MS) {
      return this.#last.health;
    }
    const check = async () => {
      const health = await healthOf(env);
      this.#last = { health, checkedAtMs: Date.now() };
      return health;
    };
    return this.#checks.run(check, waitUntil);
  }
}

export async function healthOf(env: Bindings): Promise<Health> {
  const count = countOutdatedKeys(openDatabase(env.DB));
  const failed = await Promise.all([
    nameIfFailed("database", count),
    nameIfFailed("limiter", env.KEY_LIMITER.getByName(PROBED_LIMITER).forget()),
  ]);
  const failures = failed.filter((name) => name !== undefined);
  return { failures, outdatedKeys: failed[0] === undefined ? await count : 0 };
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
