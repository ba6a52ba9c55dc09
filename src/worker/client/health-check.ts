/** Whether D1 and a limiter answer. Anyone may ask, so an isolate checks at most once a second. */
import type { Bindings } from "../context.ts";
import { CHECK_TIMEOUT_MS, type Health, healthOf } from "../key/health.ts";
import { SingleFlight } from "../platform/single-flight.ts";

/** Requests within this time share a result. */
const REPEAT_CHECK_AFTER_MS = 1_000;

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
