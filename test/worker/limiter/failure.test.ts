/** The limiter cannot be reached, or answers too late: 503 in time, never a false 429, never silently uncounted. */
import { afterEach, beforeEach, describe, type ExpectStatic, it, vi } from "vitest";
import type { Bindings } from "../../../src/worker/context.ts";
import type { Verdict } from "../../../src/worker/limiter/core/decide.ts";
import { LIMITER_TIMEOUT_MS } from "../../../src/worker/limiter/limiter-client.ts";
import { createKey } from "../../support/factories.ts";
import { limiterOf, newIsolate, pause, setClock, withoutLog } from "./limiter-support.ts";

beforeEach(withoutLog);
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A namespace whose objects answer as told, one function a call; it counts the calls and the stubs. */
function limiterThat(...answers: (() => Promise<Verdict>)[]) {
  let calls = 0;
  let stubs = 0;
  const getByName = () => {
    stubs++;
    return { admit: () => (answers[Math.min(calls++, answers.length - 1)] ?? fails("unused"))() };
  };
  // Only `getByName` is used of a namespace, and of its stubs only `admit`.
  const KEY_LIMITER = { getByName } as unknown as Bindings["KEY_LIMITER"];
  return { overrides: { KEY_LIMITER }, calls: () => calls, stubs: () => stubs };
}

const fails =
  (message: string, flags: { retryable?: boolean; overloaded?: boolean } = {}) =>
  () =>
    Promise.reject(Object.assign(new Error(message), flags));

const RESET = fails("Durable Object reset because its code was updated.", { retryable: true });
const OVERLOADED = fails("Durable Object is overloaded.", { retryable: true, overloaded: true });
const BROKEN = fails("disk I/O error");
const STALE = async (): Promise<Verdict> => ({ kind: "stale" });

async function expect503(response: Response, expect: ExpectStatic): Promise<void> {
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ code: "service_unavailable", status: 503 });
  expect(response.headers.get("Retry-After")).toBe("5");
  expect(response.headers.get("X-RateLimit-Limit")).toBe("0");
  expect(response.headers.get("X-RateLimit-Remaining")).toBe("0");
  expect(Number(response.headers.get("X-RateLimit-Reset")) * 1000).toBeGreaterThan(Date.now() - 1000);
}

describe("in closed mode, which is the default", () => {
  it.for([
    { what: "throws", answer: BROKEN, calls: 1 },
    { what: "is overloaded, which a retry would make worse", answer: OVERLOADED, calls: 1 },
    { what: "is reset by a deploy, and again on the retry", answer: RESET, calls: 2 },
    { what: "calls every record stale, the freshest too", answer: STALE, calls: 3 },
  ])("a limiter that $what is a 503", async ({ answer, calls }, { expect }) => {
    const { key } = await createKey();
    const limiter = limiterThat(answer);
    await expect503(await newIsolate()(key, "/v1/store/orders", limiter.overrides), expect);
    expect(limiter.calls()).toBe(calls);
  });

  it("a limiter that answers after 5 s is a 503 after 2 s", async ({ expect }) => {
    const { id, key } = await createKey();
    const late = limiterThat(async () => {
      await pause(5_000);
      return { kind: "stale" };
    });
    const startMs = performance.now();
    const response = await newIsolate()(key, "/v1/store/orders", late.overrides);
    const tookMs = performance.now() - startMs;
    await expect503(response, expect);
    expect(tookMs).toBeGreaterThanOrEqual(LIMITER_TIMEOUT_MS - 50);
    expect(tookMs).toBeLessThan(4_500);
    expect((await limiterOf(id).inspect({ perMinute: 1, perDay: 1 })).quota.minute.remaining).toBe(1);
  }, 10_000);

  it("a reset is retried once on a new stub, and the client notices nothing", async ({ expect }) => {
    const { id, key } = await createKey({ perMinute: 10 });
    const limiter = limiterThat(RESET, () =>
      limiterOf(id).admit({ version: 1e15, limits: { perMinute: 10, perDay: 100 } }),
    );
    const response = await newIsolate()(key, "/v1/store/orders", limiter.overrides);
    expect(response.status).toBe(200);
    expect(response.headers.get("X-RateLimit-Remaining")).toBe("9");
    expect(limiter.stubs()).toBe(2);
  });

  it("a mode that is neither closed nor open is loud, and lets nobody through", async ({ expect }) => {
    const { key } = await createKey();
    const overrides = { ...limiterThat(BROKEN).overrides, LIMITER_FAILURE_MODE: "opne" };
    expect((await newIsolate()(key, "/v1/store/orders", overrides)).status).toBe(500);
  });
});

describe("in open mode", () => {
  it("the request is let through, and labelled as uncounted", async ({ expect }) => {
    const { key } = await createKey();
    const overrides = { ...limiterThat(BROKEN).overrides, LIMITER_FAILURE_MODE: "open" };
    const response = await newIsolate()(key, "/v1/store/orders", overrides);
    expect(response.status).toBe(200);
    expect(response.headers.get("X-RateLimit-Degraded")).toBe("limiter-unreachable");
    expect(response.headers.get("X-RateLimit-Limit")).toBe("0");
    expect(response.headers.get("RateLimit")).toBeNull();
  });

  it("a limiter that can be reached still refuses, without a label", async ({ expect }) => {
    setClock(Date.UTC(2035, 0, 1));
    const { key } = await createKey({ perMinute: 1 });
    const call = newIsolate();
    const mode = { LIMITER_FAILURE_MODE: "open" };
    await call(key, "/v1/store/orders", mode);
    const response = await call(key, "/v1/store/orders", mode);
    expect(response.status).toBe(429);
    expect(response.headers.get("X-RateLimit-Degraded")).toBeNull();
  });
});
