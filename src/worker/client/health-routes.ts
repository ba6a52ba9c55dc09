/** `GET /health`, for monitors and deploys. A request needs no key and is not counted. */

import { Hono } from "hono";
import type { AppEnv, Bindings } from "../context.ts";
import { CHECK_TIMEOUT_MS, type Health, healthOf } from "../key/health.ts";
import { unavailable } from "../platform/errors.ts";
import { settingsOf } from "../platform/settings.ts";
import { SingleFlight } from "../platform/single-flight.ts";
import { renderClientError } from "./errors.ts";

export function healthRoutes() {
  const health = new HealthCheck();
  return new Hono<AppEnv>().get("/health", async (c) => {
    const { failures, warning, outdatedKeys, unreportedKeys } = await health.run(c.env, (promise) =>
      c.executionCtx.waitUntil(promise),
    );
    if (failures.length > 0) return renderClientError(unavailable(failures.join(" "), undefined));
    const wrong = settingsOf(c.env).problems.map(({ names }) => names);
    const settings = wrong.length === 0 ? "ok" : `wrong: ${wrong.join(", ")}`;
    const database = warning ?? "ok";
    return c.json({ status: "ok", database, limiter: "ok", settings, outdatedKeys, unreportedKeys }, 200, {
      "Cache-Control": "no-store",
    });
  });
}

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
