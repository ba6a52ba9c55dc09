/** `GET /health`, for monitors and deploys. A request needs no key and is not counted. */

import { Hono } from "hono";
import type { AppEnv, Bindings } from "../context.ts";
import { CHECK_TIMEOUT_MS, type Health, healthOf } from "../key/health.ts";
import { unavailable } from "../platform/errors.ts";
import { settingsOf } from "../platform/settings.ts";
import { SingleFlight } from "../platform/single-flight.ts";
import { renderClientError } from "./errors.ts";

/** Requests within this time share a result. */
const REPEAT_CHECK_AFTER_MS = 1_000;

export function healthRoutes() {
  const checks = new SingleFlight<Health>(2 * CHECK_TIMEOUT_MS);
  let last: { readonly health: Health; readonly checkedAtMs: number } | undefined;
  const check = async (env: Bindings) => {
    const health = await healthOf(env);
    last = { health, checkedAtMs: Date.now() };
    return health;
  };
  return new Hono<AppEnv>().get("/health", async (c) => {
    const isFresh = last && Math.abs(Date.now() - last.checkedAtMs) < REPEAT_CHECK_AFTER_MS;
    const waitUntil = (load: Promise<unknown>) => c.executionCtx.waitUntil(load);
    const health = (isFresh && last?.health) || (await checks.run(() => check(c.env), waitUntil));
    const { failures, warning, outdatedKeys, unreportedKeys } = health;
    if (failures.length > 0) return renderClientError(unavailable(failures.join(" "), undefined));
    const wrong = settingsOf(c.env).problems.map(({ names }) => names);
    const settings = wrong.length === 0 ? "ok" : `wrong: ${wrong.join(", ")}`;
    const database = warning ?? "ok";
    return c.json({ status: "ok", database, limiter: "ok", settings, outdatedKeys, unreportedKeys }, 200, {
      "Cache-Control": "no-store",
    });
  });
}
