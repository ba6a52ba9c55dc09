/** The one line that each request writes: who, what was decided, what remains, and how long each step took. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { createKey } from "../../support/factories.ts";
import { captureLog, LIST, pause, setClock, startApp } from "../../support/worker.ts";
import { banByStrikes, operatorOf, unreachableLimiters } from "../admin/admin-support.ts";

const NOON = Date.UTC(2033, 4, 6, 12);

let log: ReturnType<typeof captureLog>;
beforeEach(() => {
  log = captureLog();
});
afterEach(() => {
  log.restore();
  vi.useRealTimers();
});

const requests = () => log.lines().filter(({ event }) => event === "request");
const lastRequest = () => requests().at(-1);

describe("the line of a request", () => {
  it("has the id, route, status, key, plan, verdict, remaining requests and the time of each step", async ({
    expect,
  }) => {
    const { id, key } = await createKey({ plan: "pro" });
    const response = await startApp()(`${LIST}/77`, { key, method: "DELETE" });
    expect(lastRequest()).toEqual({
      event: "request",
      requestId: response.headers.get("X-Request-Id"),
      method: "DELETE",
      route: "/v1/store/orders/:orderId",
      status: 404,
      durationMs: expect.any(Number),
      keyId: id,
      plan: "pro",
      verdict: "admitted",
      remaining: Number(response.headers.get("X-RateLimit-Remaining")),
      dayPercent: 0,
      authenticateMs: expect.any(Number),
      limitMs: expect.any(Number),
      routeMs: expect.any(Number),
    });
  });

  it("has times that together are the whole, and show which step was slow", async ({ expect }) => {
    const { key } = await createKey();
    const slow = { getByName: (name: string) => slowLimiter(env.KEY_LIMITER.getByName(name)) };
    // The app calls `admit` only.
    await startApp({ KEY_LIMITER: slow as unknown as typeof env.KEY_LIMITER })(LIST, { key });
    const line = lastRequest();
    expect(line?.limitMs).toBeGreaterThanOrEqual(190);
    expect(Number(line?.authenticateMs) + Number(line?.limitMs) + Number(line?.routeMs)).toBe(
      line?.durationMs,
    );
  });

  it("is written also if the client hangs up, as the runtime waits for the answer", async ({ expect }) => {
    const { key } = await createKey();
    const slow = { getByName: (name: string) => slowLimiter(env.KEY_LIMITER.getByName(name)) };
    const kept: Promise<unknown>[] = [];
    // The app calls `admit` only.
    const KEY_LIMITER = slow as unknown as typeof env.KEY_LIMITER;
    const app = startApp({ KEY_LIMITER }, (promise) => void kept.push(promise));
    void app(LIST, { key });
    await pause(20);
    expect(requests()).toEqual([]);
    await kept[0];
    expect(lastRequest()).toMatchObject({ status: 200, verdict: "admitted" });
  });

  it("says limited, and banned, with nothing remaining", async ({ expect }) => {
    const app = startApp();
    const limited = await createKey({ plan: "free", perMinute: 1 });
    await banByStrikes(limited, app, NOON);
    const verdicts = requests().map(({ verdict }) => verdict);
    expect(new Set(verdicts)).toEqual(new Set(["admitted", "limited", "banned"]));
    expect(lastRequest()).toMatchObject({ status: 429, verdict: "banned", plan: "free", remaining: 0 });
  });

  it("says how much of the day's limit is used, also when the minute's refuses", async ({ expect }) => {
    setClock(NOON);
    const { key } = await createKey({ perMinute: 2, perDay: 3 });
    const app = startApp();
    for (let i = 0; i < 3; i++) await app(LIST, { key });
    expect(requests().map(({ dayPercent }) => dayPercent)).toEqual([33, 66, 66]);
  });

  it("says no verdict while the limiter cannot be reached", async ({ expect }) => {
    const { key } = await createKey();
    await startApp({ KEY_LIMITER: unreachableLimiters() })(LIST, { key });
    expect(lastRequest()).toMatchObject({ status: 503, authenticateMs: expect.any(Number) });
    for (const name of ["verdict", "remaining", "dayPercent"]) {
      expect(lastRequest()).not.toHaveProperty(name);
    }
  });

  it("has no plan and no verdict without a valid key, and no limit in the admin API", async ({ expect }) => {
    const app = startApp();
    await app(LIST);
    expect(lastRequest()).toMatchObject({ status: 401, reason: "missing" });
    for (const name of ["plan", "verdict", "remaining", "authenticateMs"]) {
      expect(lastRequest()).not.toHaveProperty(name);
    }
    await operatorOf(app)("GET", "/plans");
    expect(lastRequest()).toMatchObject({
      status: 200,
      authenticateMs: expect.any(Number),
      routeMs: expect.any(Number),
    });
    expect(lastRequest()).not.toHaveProperty("limitMs");
  });
});

describe("an event of its own", () => {
  it("is a failed admin sign-in, with its reason", async ({ expect }) => {
    const app = startApp();
    await app("/admin/plans");
    await app("/admin/plans", { key: "a-wrong-admin-token-of-some-length" });
    expect(log.lines().filter(({ event }) => event === "admin_sign_in_failed")).toMatchObject([
      { reason: "missing", requestId: expect.any(String), network: expect.any(String) },
      { reason: "wrong token" },
    ]);
  });

  it("is each limit of a key's own that overrides its plan's", async ({ expect }) => {
    const operate = operatorOf(startApp());
    const { body: key } = await operate("POST", "/keys", { name: "x", plan: "pro", requestsPerMinute: 7 });
    const ofThePlan = { requestsPerMinute: null, requestsPerDay: null };
    await operate("POST", "/keys", { name: "z", plan: "pro", ...ofThePlan });
    await operate("PATCH", `/keys/${key.id}`, { name: "y" });
    await operate("PATCH", `/keys/${key.id}`, { requestsPerMinute: null, requestsPerDay: 9 });
    expect(log.lines().filter(({ event }) => event === "key_limits_set")).toMatchObject([
      { keyId: key.id, perMinute: 7, perDay: "unchanged" },
      { keyId: key.id, perMinute: "of the plan", perDay: 9 },
    ]);
  });
});

type Stub = { admit: (call: never) => Promise<unknown> };

function slowLimiter(limiter: unknown): Stub {
  const stub = limiter as Stub; // the stub of a limiter
  return {
    admit: async (call) => {
      await pause(200);
      return stub.admit(call);
    },
  };
}
