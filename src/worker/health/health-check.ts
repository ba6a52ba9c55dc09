/** Whether D1 and a limiter answer. Anyone may ask, so an isolate checks at most once a second, whoever asks. */
import type { Bindings } from "../context.ts";
import { checkDatabase, openDatabase } from "../db/database.ts";
import { logError } from "../log.ts";
import { SingleFlight } from "../single-flight.ts";
import { withTimeout } from "../with-timeout.ts";

/** A monitor polls less often. More requests than that share a result. */
const REPEAT_CHECK_AFTER_MS = 1_000;

const CHECK_TIMEOUT_MS = 2_000;

/** A limiter of no key. `forget` stores nothing. */
const PROBED_LIMITER = "health";

/** What cannot be reached; empty if all is well. */
export type Failures = readonly string[];

export class HealthCheck {
  readonly #checks = new SingleFlight<Failures>(2 * CHECK_TIMEOUT_MS);
  #last: { readonly failures: Failures; readonly checkedAtMs: number } | null = null;

  async run(env: Bindings, waitUntil: (promise: Promise<unknown>) => void): Promise<Failures> {
    if (this.#last !== null && Math.abs(Date.now() - this.#last.checkedAtMs) < REPEAT_CHECK_AFTER_MS) {
      return this.#last.failures;
    }
    const check = async () => {
      const failures = await failuresOf(env);
      this.#last = { failures, checkedAtMs: Date.now() };
      return failures;
    };
    return this.#checks.run("", check, waitUntil);
  }
}

export async function failuresOf(env: Bindings): Promise<Failures> {
  const failed = await Promise.all([
    nameIfFailed("database", checkDatabase(openDatabase(env.DB))),
    nameIfFailed("limiter", env.KEY_LIMITER.getByName(PROBED_LIMITER).forget()),
  ]);
  return failed.filter((name) => name !== undefined);
}

async function nameIfFailed(name: string, call: Promise<unknown>): Promise<string | undefined> {
  try {
    await withTimeout(call, CHECK_TIMEOUT_MS);
    return undefined;
  } catch (thrown) {
    logError("health_check_failed", thrown, { name });
    return name;
  }
}
