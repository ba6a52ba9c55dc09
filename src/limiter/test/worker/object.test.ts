/** The object in workerd: what only the platform can show: storage, alarms, evictions, names and RPC. */
import {
  abortAllDurableObjects,
  createExecutionContext,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
  waitOnExecutionContext,
} from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { Hono } from "hono";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import {
  admit as ask,
  type LimiterNamespace,
  perDay,
  perMinute,
  type RateLimiter,
  type RateLimitOptions,
  rateLimit,
} from "../../index.ts";
import { holdLoads, reports } from "./worker.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Far in the future, or alarms would run by themselves. */
const NOON = Date.UTC(2031, 0, 1, 12);
const FREE = [perMinute(60), perDay(1_000)];
const BUSINESS = [perMinute(1_000), perDay(100_000)];

beforeEach(() => {
  vi.useFakeTimers({ now: NOON, toFake: ["Date"] });
  reports.length = 0;
});
afterEach(() => {
  vi.useRealTimers();
});

type Stub = DurableObjectStub<RateLimiter>;

let names = 0;
const freshName = () => `key_${names++}`;
const fresh = (): Stub => env.RATE_LIMITER.getByName(freshName());

const admit = (stub: Stub, limits = FREE) => stub.admit({ limits });

async function admitAtOnce(stub: Stub, count: number, limits = FREE): Promise<Record<string, number>> {
  const verdicts = await Promise.all(Array.from({ length: count }, () => admit(stub, limits)));
  return Object.fromEntries(
    Map.groupBy(verdicts, ({ kind }) => kind)
      .entries()
      .map(([kind, all]) => [kind, all.length]),
  );
}

const used = async (stub: Stub, limits = FREE) =>
  (await stub.inspect({ limits }))?.quota.map((window) => window.used);

/** A real timer: two of the object's, which worker.ts makes short, and time to spare. */
const idleFlush = () => new Promise((resolve) => setTimeout(resolve, 650));

const rows = (stub: Stub) => runInDurableObject(stub, (_, { storage }) => [...storage.kv.list()].length);
const alarmAt = (stub: Stub) => runInDurableObject(stub, (_, { storage }) => storage.getAlarm());

/** How many rows a block writes, the alarm's included. */
async function rowsWrittenBy(stub: Stub, block: () => Promise<unknown>): Promise<number> {
  const total = () =>
    runInDurableObject(
      stub,
      (_, { storage }) => storage.sql.exec("select total_changes() as n").one().n as number,
    );
  const before = await total();
  await block();
  return (await total()) - before;
}

describe("requests at the same time", () => {
  it("through the middleware admit exactly the limit, with headers on each, and the second window holds", async ({
    expect,
  }) => {
    const ask = async () =>
      Promise.all(Array.from({ length: 300 }, () => exports.default.fetch("https://a.example/burst")));
    const statuses = (all: Response[]) => all.filter(({ status }) => status === 200).length;
    const first = await ask();
    expect(statuses(first)).toBe(60);
    for (const { headers, status } of first) {
      expect(headers.get("X-RateLimit-Limit")).toBe("60");
      expect(headers.has("Retry-After")).toBe(status === 429);
    }
    vi.setSystemTime(NOON + MINUTE);
    const second = await ask();
    expect(statuses(second)).toBe(40);
    expect(
      second.filter(({ headers }) => headers.get("Retry-After") === String((DAY / 2 - MINUTE) / 1000)),
    ).toHaveLength(260);
  });
});

describe("requests that share a call over RPC", () => {
  it.for(["RATE_LIMITER", "EARLIER"] as const)(
    "get a verdict each, and a wrong one its error: %s",
    async (name, { expect }) => {
      // An object of an earlier version has one of the methods.
      const namespace = env[name] as unknown as LimiterNamespace;
      const key = freshName();
      const asked = Array.from({ length: 100 }, async (_, i) => {
        const context = createExecutionContext();
        const waitUntil = (held: Promise<unknown>) => context.waitUntil(held);
        const { verdict } = await ask(namespace, { key, limits: FREE, cost: i === 50 ? 0 : 1, waitUntil });
        return verdict.kind === "admitted" ? verdict.quota[0]?.remaining : verdict.kind;
      });
      const answers = (await Promise.allSettled(asked)).map((each) =>
        each.status === "fulfilled" ? each.value : each.reason.name,
      );
      const expected = [
        ...Array.from({ length: 60 }, (_, i) => 59 - i),
        ...Array(39).fill("limited"),
        "RangeError",
      ];
      expect(new Set(answers)).toEqual(new Set(expected));
      expect(answers.filter((each) => each === "limited")).toHaveLength(39);
      expect(answers[50]).toBe("RangeError");
    },
  );
});

describe("an object that is lost", () => {
  it("keeps each count below 300 a minute when it is reset", async ({ expect }) => {
    const name = freshName();
    for (const requests of [1, 7, 30]) {
      await admitAtOnce(env.RATE_LIMITER.getByName(name), requests);
      await abortAllDurableObjects();
    }
    expect(await used(env.RATE_LIMITER.getByName(name))).toEqual([38, 38]);
  });

  it("loses at most a tenth of 1,000 a minute when it is reset in a burst, and nothing after the idle flush", async ({
    expect,
  }) => {
    const name = freshName();
    await admitAtOnce(env.RATE_LIMITER.getByName(name), 150, BUSINESS);
    await abortAllDurableObjects();
    const [after = 0] = (await used(env.RATE_LIMITER.getByName(name), BUSINESS)) ?? [];
    expect(after).toBeGreaterThan(150);
    expect(after).toBeLessThanOrEqual(250);
    const stub = env.RATE_LIMITER.getByName(name);
    await admitAtOnce(stub, 10, BUSINESS);
    await idleFlush();
    await evictDurableObject(stub);
    expect(await used(stub, BUSINESS)).toEqual([after + 10, after + 10]);
  });
});

describe("rows written", () => {
  it.for([
    { perMinute: 299, requests: 50, atLeast: 50, atMost: 50 },
    { perMinute: 10, requests: 50, atLeast: 9, atMost: 9 }, // none for a refused one
    { perMinute: 300, requests: 50, atLeast: 2, atMost: 3 }, // blocks of 30, and the exact count after the burst
    { perMinute: 300, requests: 1, atLeast: 2, atMost: 2 },
  ])("are one a request below 300 a minute, and fewer or two from there on: %j", async (each, { expect }) => {
    const limits = [{ name: "minute", requests: each.perMinute, seconds: 60 }];
    const stub = fresh();
    await admit(stub, limits);
    await idleFlush();
    const written = await rowsWrittenBy(stub, async () => {
      for (let i = 0; i < each.requests; i++) await admit(stub, limits);
      await idleFlush();
    });
    expect(written).toBeGreaterThanOrEqual(each.atLeast);
    expect(written).toBeLessThanOrEqual(each.atMost);
  });
});

describe("an idle object", () => {
  it("deletes its storage ten minutes after its longest window, and then counts from zero", async ({
    expect,
  }) => {
    const stub = fresh();
    await admitAtOnce(stub, 10);
    expect(await alarmAt(stub)).toBe(NOON + DAY / 2 + 10 * MINUTE);
    vi.setSystemTime(NOON + DAY / 2);
    await runDurableObjectAlarm(stub);
    expect(await rows(stub)).toBe(1);
    vi.setSystemTime(NOON + DAY / 2 + 11 * MINUTE);
    await runDurableObjectAlarm(stub);
    expect([await rows(stub), await alarmAt(stub)]).toEqual([0, null]);
    expect(await admitAtOnce(stub, 3)).toEqual({ admitted: 3 });
    expect([await rows(stub), await used(stub)]).toEqual([1, [3, 3]]);
  });

  it("with keep stays for good, with a subclass's own rows", async ({ expect }) => {
    const stub: Stub = env.KEEPING.getByName(freshName());
    await admit(stub);
    await runInDurableObject(stub, (_, { storage }) => storage.kv.put("own", 1));
    await idleFlush();
    vi.setSystemTime(((await alarmAt(stub)) ?? 0) + 2 * DAY); // the platform was down
    await runDurableObjectAlarm(stub);
    expect([await rows(stub), await alarmAt(stub)]).toEqual([2, null]);
  });
});

describe("a subclass", () => {
  it("loads the policy by the object's name, and gives its facts with the verdict", async ({ expect }) => {
    const name = freshName();
    const verdict = await env.REPORTING.getByName(name).admit({});
    expect(verdict).toMatchObject({ kind: "admitted", facts: { plan: "business" } });
    const unknown = env.REPORTING.getByName(`unknown_${name}`);
    expect(await unknown.admit({})).toEqual({ kind: "unknown", reason: "no_such_key", retryAfterMs: null });
    expect([await rows(unknown), await unknown.inspect()]).toEqual([0, null]);
  });

  it("gets the first request and a ban at once, and the rest in the key's own minute, also if it was evicted", async ({
    expect,
  }) => {
    const name = freshName();
    const stub: Stub = env.REPORTING.getByName(name);
    await admitAtOnce(stub, 1_001);
    vi.setSystemTime(NOON + 2_000);
    expect((await admit(stub)).kind).toBe("banned");
    await vi.waitFor(() => expect(reports).toHaveLength(2));
    expect(reports[0]?.hours).toMatchObject([{ startMs: NOON, admitted: 1 }]);
    expect(reports[1]).toMatchObject({
      key: name,
      hours: [{ startMs: NOON, admitted: 1_000, refused: 1, refusedWhileBanned: 1 }],
      bans: [{ strikes: 1, startedAtMs: NOON + 2_000 }],
    });
    // The second refusal by the ban is growth, and the third waits.
    vi.setSystemTime(NOON + 8_000);
    for (let i = 0; i < 2; i++) await admit(stub);
    await vi.waitFor(() => expect(reports).toHaveLength(3));
    await idleFlush();
    await evictDurableObject(stub);
    vi.setSystemTime((await alarmAt(stub)) ?? 0);
    await runDurableObjectAlarm(stub);
    vi.setSystemTime((await alarmAt(stub)) ?? 0);
    expect(Date.now()).toBeLessThanOrEqual(NOON + 8_000 + HOUR);
    await runDurableObjectAlarm(stub);
    const refusedMinutes = [{ minute: 0, by: { minute: 1, ban: 3 } }];
    const figures = { startMs: NOON, admitted: 1_000, refused: 1, refusedWhileBanned: 3, refusedMinutes };
    const hour = { ...figures, limits: { minute: 1_000, day: 100_000 } };
    expect(reports.slice(3)).toEqual([
      { key: name, hours: [hour], bans: [], thresholds: [], credentials: [] },
    ]);
  });

  it("is not asked for the policy of a key that paused, although the object was evicted", async ({
    expect,
  }) => {
    const stub: Stub = env.REPORTING.getByName(freshName());
    await admit(stub);
    await evictDurableObject(stub);
    vi.setSystemTime(NOON + 30_000);
    const held = holdLoads();
    try {
      expect((await admit(stub)).kind).toBe("admitted");
    } finally {
      held.release();
    }
  });
});

describe("a key", () => {
  it("is settled behind the answer, and changed by code, over RPC", async ({ expect }) => {
    const name = freshName();
    const stub: Stub = env.RATE_LIMITER.getByName(name);
    const namespace = () => env.RATE_LIMITER;
    const app = new Hono().use(
      rateLimit({ namespace, key: () => name, limits: FREE, cost: () => 9, settle: () => 2 }),
    );
    app.get("/", (c) => c.text("ok"));
    const context = createExecutionContext();
    const { headers } = await app.request("/", {}, env, context);
    await waitOnExecutionContext(context);
    expect([headers.get("X-RateLimit-Remaining"), await used(stub)]).toEqual(["51", [2, 2]]);
    await stub.block({ endsAtMs: NOON + HOUR, reason: "abuse" });
    expect(await admit(stub)).toMatchObject({ kind: "banned", ban: { reason: "abuse" } });
    await stub.unblock();
    await stub.reset();
    expect([(await admit(stub)).kind, await used(stub)]).toEqual(["admitted", [1, 1]]);
  });
});

describe("a mistake of the host", () => {
  it("is an error of the object that the middleware passes on, where the host fails open", async ({
    expect,
  }) => {
    const onUnreachable: RateLimitOptions["onUnreachable"] = (_c, next) => next();
    const app = new Hono()
      .use(rateLimit({ namespace: () => env.WRONG, key: freshName, onUnreachable }))
      .get("/", (c) => c.text("passed"))
      .onError(({ message }, c) => c.text(message, 500));
    const response = await app.request("/");
    expect(response.status).toBe(500);
    expect(await response.text()).toContain('requests of "minute" must be');
  });
});
