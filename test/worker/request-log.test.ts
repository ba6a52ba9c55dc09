/** The log beside the one line of the walk: which requests have a line, the time of each step, events. */

import { env } from "cloudflare:workers";
import type { LimiterCall } from "hono-durable-limiter";
import { describe, it, vi } from "vitest";
import { createKey } from "../support/factories.ts";
import { type App, LIST, limiterOf, limiters, log, pause, startApp } from "../support/worker.ts";

const linesOf = (name: string) => log.lines().filter(({ event }) => event === name);

describe("the line of a request", () => {
  it("has times that together are the whole, and show which step was slow", async ({ expect }) => {
    const { key } = await createKey();
    const KEY_LIMITER = limiters((name) => ({
      admit: async (call: LimiterCall) => {
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

describe("LOG_REQUESTS", () => {
  const fail = () => Promise.reject(new Error("an outage"));

  /** Each request that is answered: its status, and the weight of its line, 0 without a line. */
  async function weights(app: App, key: string, limited: string) {
    const answers = [
      await app(LIST, { key }),
      await app("/v1/none", { key }),
      await app(LIST),
      await app(`${LIST}/9`, { key, method: "DELETE" }),
      await app(LIST, { key: limited }),
      await app("/admin/plans", { key: env.ADMIN_TOKEN }),
      await app(LIST, { key, bindings: { KEY_LIMITER: limiters(() => ({ admit: () => fail() })) } }),
    ];
    return answers.map(({ status, headers }) => {
      const line = linesOf("request").find(({ requestId }) => requestId === headers.get("X-Request-Id"));
      return [status, line?.weight ?? 0];
    });
  }

  it.for([
    ["all", 1],
    ["refused", 0],
    ["wrong", 1],
  ] as const)(
    "%s keeps each refusal, cancel, error and operator, and of others %i",
    async ([LOG_REQUESTS, others], { expect }) => {
      const { key } = await createKey();
      const { key: limited } = await createKey({ perMinute: 1 });
      const app = startApp({ LOG_REQUESTS });
      await app(LIST, { key: limited });
      expect(await weights(app, key, limited)).toEqual([
        [200, others],
        [404, others],
        [401, 1],
        [404, 1],
        [429, 1],
        [200, 1],
        [503, 1],
      ]);
    },
  );

  it("1/N keeps a share of the others, whose weights add up to all of them", async ({ expect }) => {
    const { key } = await createKey({ perMinute: 1_000 });
    const app = startApp({ LOG_REQUESTS: "1/4" });
    for (let i = 0; i < 400; i++) await app("/v1/none", { key });
    const kept = linesOf("request").map(({ weight }) => weight);
    expect(new Set(kept)).toEqual(new Set([4]));
    // 400 requests by chance: six standard deviations of the number of lines on either side.
    expect(kept.length).toBeGreaterThan(48);
    expect(kept.length).toBeLessThan(152);
  });
});

describe("an event of its own", () => {
  it("is a key that has used a share of its day, without a webhook", async ({ expect }) => {
    const { key, id } = await createKey({ perDay: 5 });
    const app = startApp({ LOG_REQUESTS: "refused" });
    for (let i = 0; i < 5; i++) await app(LIST, { key });
    await vi.waitFor(() =>
      expect(linesOf("usage_reached")).toMatchObject([
        { keyId: id, percent: 80, used: 4, limit: 5 },
        { keyId: id, percent: 100, used: 5, limit: 5 },
      ]),
    );
  });
});
