/** `GET /health`: who is named when something cannot be reached, in bounded time, and at what cost. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import type { Bindings } from "../../../src/worker/context.ts";
import {
  CHECK_TIMEOUT_MS,
  HealthCheck,
  REPEAT_CHECK_AFTER_MS,
} from "../../../src/worker/health/health-check.ts";
import { MAX_JOINED_REQUESTS } from "../../../src/worker/single-flight.ts";
import {
  captureLog,
  setClock,
  startApp,
  storedState,
  watchDatabase,
  watchLimiters,
} from "../../support/worker.ts";

let log: ReturnType<typeof captureLog>;
beforeEach(() => {
  log = captureLog();
});
afterEach(() => {
  log.restore();
  vi.useRealTimers();
});

/** A namespace whose objects answer `inspect` with this function. */
function limiterAnswering(inspect: () => Promise<unknown>): Partial<Bindings> {
  // The check uses these members only.
  return { KEY_LIMITER: { getByName: () => ({ inspect }) } as unknown as Bindings["KEY_LIMITER"] };
}

const fails = () => Promise.reject(new Error("Network connection lost."));

describe("GET /health", () => {
  it("is 200 without a key if D1 and a limiter answer, and leaves nothing stored", async ({ expect }) => {
    const response = await startApp()("/health");
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: "ok", database: "ok", limiter: "ok" });
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    expect(response.headers.get("X-RateLimit-Limit")).toBe("0");
    expect(response.headers.get("X-RateLimit-Remaining")).toBe("0");
    expect(await storedState(env.KEY_LIMITER.getByName("health"))).toBeUndefined();
  });

  it("is 503 and names what cannot be reached", async ({ expect }) => {
    const { DB, failWith } = watchDatabase();
    failWith("D1_ERROR: Network connection lost.");
    const cases = [
      { bindings: { DB }, message: "Cannot be reached: database." },
      { bindings: limiterAnswering(fails), message: "Cannot be reached: limiter." },
      { bindings: { DB, ...limiterAnswering(fails) }, message: "Cannot be reached: database, limiter." },
    ];
    for (const { bindings, message } of cases) {
      const response = await startApp(bindings)("/health");
      expect(response.headers.get("Retry-After")).toBe("5");
      expect(await response.json()).toEqual({ code: "service_unavailable", message, status: 503 });
    }
    expect(log.text()).toContain("health_check_failed");
  });

  it("answers in bounded time if a limiter hangs", async ({ expect }) => {
    const startMs = performance.now();
    const response = await startApp(limiterAnswering(() => new Promise(() => {})))("/health");
    expect(response.status).toBe(503);
    expect(performance.now() - startMs).toBeLessThan(2 * CHECK_TIMEOUT_MS);
  });

  it("is 503 to further requests while many wait for the same check", async ({ expect }) => {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: Date.now() });
    const { promise, resolve } = Promise.withResolvers<void>();
    const bindings = { ...env, ...limiterAnswering(() => promise) };
    const health = new HealthCheck();
    const check = () => health.run(bindings, () => {});
    const waiting = Array.from({ length: 1 + MAX_JOINED_REQUESTS }, check);
    await expect(check()).rejects.toMatchObject({ code: "service_unavailable", cause: undefined });
    resolve();
    await waiting[0];
    vi.advanceTimersByTime(1);
    expect((await Promise.all(waiting)).flat()).toEqual([]);
  });

  it("checks once a second in an isolate, however many ask", async ({ expect }) => {
    setClock(Date.UTC(2031, 0, 1));
    const { DB, queries } = watchDatabase();
    const limiters = watchLimiters();
    const app = startApp({ DB, ...limiters });
    await Promise.all(Array.from({ length: 50 }, () => app("/health")));
    await app("/health");
    expect([queries().length, limiters.addressed().length]).toEqual([1, 1]);
    setClock(Date.now() + REPEAT_CHECK_AFTER_MS);
    await app("/health");
    expect([queries().length, limiters.addressed().length]).toEqual([1, 1]);
  });
});
