/** The limiter cannot be reached, answers too late or always answers stale: never a wrong 429, never above the limit. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, type ExpectStatic, it, vi } from "vitest";
import type { Bindings } from "../../../src/worker/context.ts";
import type { Call, Verdict } from "../../../src/worker/limiter/core/decide.ts";
import { LIMITER_TIMEOUT_MS } from "../../../src/worker/limiter/limiter-client.ts";
import { createKey } from "../../support/factories.ts";
import {
  type App,
  admit,
  captureLog,
  countOf,
  LIST,
  limiterOf,
  pause,
  policyOf,
  setClock,
  startApp,
} from "../../support/worker.ts";

beforeEach(() => void captureLog());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A namespace whose objects answer with these functions, one per call. It counts the calls and the stubs. */
function limiterAnswering(...answers: ((call: Call) => Promise<Verdict>)[]) {
  let calls = 0;
  let stubs = 0;
  const getByName = () => {
    stubs++;
    const next = () => answers[Math.min(calls++, answers.length - 1)] ?? fails("unused");
    return { admit: (call: Call) => next()(call) };
  };
  // The app uses only `getByName` of a namespace, and only `admit` of its stubs.
  const KEY_LIMITER = { getByName } as unknown as Bindings["KEY_LIMITER"];
  return { overrides: { KEY_LIMITER }, calls: () => calls, stubs: () => stubs };
}

const fails =
  (
    message: string,
    flags: { retryable?: boolean; overloaded?: boolean; durableObjectReset?: boolean } = {},
  ) =>
  () =>
    Promise.reject(Object.assign(new Error(message), flags));

const RETRYABLE = fails("Network connection lost.", { retryable: true });
const RESET = fails("Durable Object reset because its code was updated.", { durableObjectReset: true });
const OVERLOADED = fails("Durable Object is overloaded.", {
  retryable: true,
  durableObjectReset: true,
  overloaded: true,
});
const BROKEN = fails("disk I/O error");

/** Requires a newer record each time. */
function alwaysStale(): () => Promise<Verdict> {
  let requiredVersion = 1e15;
  return async () => ({ kind: "stale", requiredVersion: requiredVersion++ });
}

async function expect503(response: Response, expect: ExpectStatic): Promise<void> {
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ code: "service_unavailable", status: 503 });
  expect(response.headers.get("Retry-After")).toBe("5");
  expect(response.headers.get("X-RateLimit-Limit")).toBe("0");
  expect(response.headers.get("X-RateLimit-Remaining")).toBe("0");
  expect(Number(response.headers.get("X-RateLimit-Reset")) * 1000).toBeGreaterThan(Date.now() - 1000);
}

describe("a limiter that fails", () => {
  it.for([
    { what: "throws", answer: BROKEN, calls: 1 },
    { what: "is overloaded, which a retry would make worse", answer: OVERLOADED, calls: 1 },
    { what: "cannot be reached, nor on the retry", answer: RETRYABLE, calls: 2 },
    { what: "is reset by a deploy, and again on the retry", answer: RESET, calls: 2 },
    { what: "always answers stale", answer: alwaysStale(), calls: 4 },
  ])("a limiter that $what is a 503", async ({ answer, calls }, { expect }) => {
    const { key } = await createKey();
    const limiter = limiterAnswering(answer);
    await expect503(await startApp(limiter.overrides)(LIST, { key }), expect);
    expect(limiter.calls()).toBe(calls);
  });

  it("a limiter that answers after 5 s is a 503 after 2 s", async ({ expect }) => {
    const { id, key } = await createKey();
    const late = limiterAnswering(async () => {
      await pause(5_000);
      return { kind: "stale", requiredVersion: 1 };
    });
    const startMs = performance.now();
    const response = await startApp(late.overrides)("/v1/store/orders", { key });
    const tookMs = performance.now() - startMs;
    await expect503(response, expect);
    expect(tookMs).toBeGreaterThanOrEqual(LIMITER_TIMEOUT_MS - 50);
    expect(tookMs).toBeLessThan(4_500);
    expect((await limiterOf(id).inspect(policyOf({ perMinute: 1, perDay: 1 }))).quota.minute.remaining).toBe(
      1,
    );
  }, 10_000);

  it.for([
    { what: "a lost connection", error: RETRYABLE },
    { what: "a reset", error: RESET },
  ])("$what is retried once on a new stub, and the request is admitted", async ({ error }, { expect }) => {
    const { id, key } = await createKey({ perMinute: 10 });
    const limits = { perMinute: 10, perDay: 100 };
    const limiter = limiterAnswering(error, () => admit(limiterOf(id), limits));
    const response = await startApp(limiter.overrides)(LIST, { key });
    expect(response.status).toBe(200);
    expect(response.headers.get("X-RateLimit-Remaining")).toBe("9");
    expect(limiter.stubs()).toBe(2);
  });

  it("a request that is refused after a lost answer is one strike", async ({ expect }) => {
    const noon = Date.UTC(2035, 0, 1, 12);
    setClock(noon);
    const { id, key } = await createKey({ perMinute: 1 });
    const counted = (call: Call) => limiterOf(id).admit(call);
    const lost = (call: Call) => counted(call).then(RETRYABLE);
    const strikes = async () => (await limiterOf(id).inspect(policyOf({ perMinute: 1, perDay: 9 }))).strikes;
    const send = (KEY_LIMITER = env.KEY_LIMITER) => startApp({ KEY_LIMITER })(LIST, { key });
    expect([(await send()).status, (await send()).status]).toEqual([200, 429]);
    setClock(noon + 2_000);
    const before = await strikes();
    expect((await send(limiterAnswering(lost, counted).overrides.KEY_LIMITER)).status).toBe(429);
    expect(await strikes()).toBe(before + 1);
  });
});

describe("a database that was restored to an earlier time", () => {
  it("has its records accepted on the next request, and later changes have higher versions", async ({
    expect,
  }) => {
    const { id, key } = await createKey({ perMinute: 100 });
    const app = startApp();
    await app(LIST, { key });
    await env.DB.prepare("update api_keys set requests_per_minute = 50 where id = ?").bind(id).run();
    const version = Number(
      await env.DB.prepare("select version from key_limits where key_id = ?").bind(id).first("version"),
    );
    await limiterOf(id).raiseMinVersion(id, version + 1_000);
    // As it is after a restore: the limiter requires a version that D1 does not have.
    const limitOf = async (isolate: App) => (await isolate(LIST, { key })).headers.get("X-RateLimit-Limit");
    expect(await limitOf(app)).toBe("50");
    expect(await limitOf(startApp())).toBe("50");
    expect(await limitOf(app)).toBe("50");

    await env.DB.prepare("update api_keys set requests_per_minute = 20 where id = ?").bind(id).run();
    const later = Number(
      await env.DB.prepare("select version from key_limits where key_id = ?").bind(id).first("version"),
    );
    await limiterOf(id).raiseMinVersion(id, later);
    expect(await limitOf(app)).toBe("20");
  });

  it("is not assumed if another isolate's newer record made this isolate's record stale", async ({
    expect,
  }) => {
    const { id, key } = await createKey({ perMinute: 100 });
    const app = startApp();
    await app(LIST, { key });
    await env.DB.prepare("update api_keys set status = 'revoked' where id = ?").bind(id).run();
    await limiterOf(id).raiseMinVersion(
      id,
      Number(
        await env.DB.prepare("select version from key_limits where key_id = ?").bind(id).first("version"),
      ),
    );
    expect((await app(LIST, { key })).status).toBe(401);
  });
});

describe("a burst that the object needs more than a second to answer", () => {
  it("causes no strikes: a request sent within a second of the first refusal is none", async ({ expect }) => {
    const sentAtMs = Date.UTC(2036, 0, 1, 12);
    setClock(sentAtMs);
    const { id, key } = await createKey({ perMinute: 5 });
    const queue: (() => void)[] = [];
    const KEY_LIMITER = limiterBehindQueue(id, queue);
    const responses = Array.from({ length: 100 }, () => startApp({ KEY_LIMITER })(LIST, { key }));
    await vi.waitFor(() => {
      if (queue.length < 100) throw new Error(`${queue.length} of 100 requests are queued`);
    });
    for (const [i, release] of queue.entries()) {
      setClock(sentAtMs + i * 300);
      release();
      await pause(1);
    }
    const statuses = countOf((await Promise.all(responses)).map(({ status }) => status));
    expect(statuses).toEqual({ 200: 5, 429: 95 });
    const { strikes, ban } = await limiterOf(id).inspect(policyOf({ perMinute: 5, perDay: 100_000 }));
    expect({ strikes, ban }).toEqual({ strikes: 0, ban: null });
  }, 20_000);
});

/** The key's limiter, whose calls wait until the test releases them. */
function limiterBehindQueue(id: string, queue: (() => void)[]): Bindings["KEY_LIMITER"] {
  const getByName = () => ({
    admit: async (call: Call) => {
      await new Promise<void>((release) => queue.push(release));
      return limiterOf(id).admit(call);
    },
  });
  return { getByName } as unknown as Bindings["KEY_LIMITER"]; // addressed by name only
}
