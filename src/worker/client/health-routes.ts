/** `GET /health`, for monitors and deploys. A request needs no key and is not counted. */
import { type Context, Hono } from "hono";
import type { AppEnv } from "../context.ts";
import { unavailable } from "../platform/errors.ts";
import { settingsOf } from "../platform/settings.ts";
import { renderClientError } from "./errors.ts";
import { HealthCheck } from "./health-check.ts";

/** `operatorMembers` returns the members that only operators see. */
export function healthRoutes(operatorMembers: (c: Context<AppEnv>) => Promise<object>) {
  const health = new HealthCheck();
  return new Hono<AppEnv>().get("/health", async (c) => {
    const { failures, warning, outdatedKeys } = await health.run(c.env, (promise) =>
      c.executionCtx.waitUntil(promise),
    );
    if (failures.length > 0) return renderClientError(unavailable(failures.join(" "), undefined));
    const members = await operatorMembers(c);
    const wrong = settingsOf(c.env).problems.map(({ names }) => names);
    const settings = wrong.length === 0 ? "ok" : `wrong: ${wrong.join(", ")}`;
    const database = warning ?? "ok";
    return c.json({ status: "ok", database, limiter: "ok", settings, outdatedKeys, ...members }, 200, {
      "Cache-Control": "no-store",
    });
  });
}
