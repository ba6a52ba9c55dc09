/** The log beside the one line of the walk: the time of each step, and limits that override a plan's. */

import type { Call } from "hono-durable-limiter";
import { describe, it } from "vitest";
import { createKey } from "../support/factories.ts";
import { LIST, limiterOf, limiters, log, pause, startApp } from "../support/worker.ts";
import { operatorOf } from "./admin/admin-support.ts";

const linesOf = (name: string) => log.lines().filter(({ event }) => event === name);

describe("the line of a request", () => {
  it("has times that together are the whole, and show which step was slow", async ({ expect }) => {
    const { key } = await createKey();
    const KEY_LIMITER = limiters((name) => ({
      admit: async (call: Call) => {
        await pause(200);
        return limiterOf(name).admit(call);
      },
    }));
    await startApp({ KEY_LIMITER })(LIST, { key });
    const [line] = linesOf("request");
    expect(line?.limitMs).toBeGreaterThanOrEqual(190);
    expect(Number(line?.authenticateMs) + Number(line?.limitMs) + Number(line?.routeMs)).toBe(
      line?.durationMs,
    );
  });
});

describe("an event of its own", () => {
  it("is each limit of a key's own that overrides its plan's", async ({ expect }) => {
    const operate = operatorOf(startApp());
    const { body: key } = await operate("POST", "/keys", { name: "x", plan: "pro", requestsPerMinute: 7 });
    await operate("PATCH", `/keys/${key.id}`, { name: "y" });
    await operate("PATCH", `/keys/${key.id}`, { requestsPerMinute: null, requestsPerDay: 9 });
    expect(linesOf("key_limits_set")).toMatchObject([
      { keyId: key.id, perMinute: 7, perDay: "unchanged" },
      { keyId: key.id, perMinute: "of the plan", perDay: 9 },
    ]);
  });
});
