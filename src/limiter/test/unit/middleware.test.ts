/** The middleware in a Hono app: headers on whatever comes back, its options, and an object that fails. */
import { type Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import {
  type AddressOptions,
  addressKey,
  type Block,
  type LimiterCall,
  type LimiterNamespace,
  perDay,
  perHour,
  perMinute,
  RateLimiter,
  type RateLimitOptions,
  rateLimit,
} from "../../index.ts";
import { Platform } from "./platform.ts";

/** What is logged, which no test prints. */
const logged = () => vi.spyOn(console, "error").mockReturnValue();

// No test crosses a minute.
beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 21, 12), toFake: ["Date", "setTimeout", "clearTimeout"] });
  logged();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** The real object in each name's platform. Calls are recorded. */
function objects() {
  const platforms = new Map<string, Platform<RateLimiter>>();
  const calls: { name: string; call: LimiterCall; options: unknown }[] = [];
  const settled: number[] = [];
  const getByName = (name: string, options?: unknown) => {
    const platform = platforms.get(name) ?? new Platform(RateLimiter);
    platforms.set(name, platform);
    return {
      admit: (call: LimiterCall) => {
        calls.push({ name, call, options });
        return platform.object.admit(call);
      },
      admitAll: (all: readonly LimiterCall[]) => platform.object.admitAll(all),
      settle: (settleId: string, cost: number) => {
        settled.push(cost);
        return platform.object.settle(settleId, cost);
      },
      inspect: (call: LimiterCall) => platform.object.inspect(call),
      reset: () => platform.object.reset(),
      block: (block: Block) => platform.object.block(block),
      unblock: () => platform.object.unblock(),
    };
  };
  return { namespace: () => ({ getByName }), calls, settled };
}

const limits = [perMinute(2), perDay(100)];

function appWith(options: Partial<RateLimitOptions>) {
  const app = new Hono();
  app.use(rateLimit({ namespace: objects().namespace, key: () => "one", limits, ...options }));
  app.get("/", (c) => c.text(c.get("rateLimit")?.kind ?? "not counted"));
  app.get("/thrown", () => {
    throw new Error("from a route");
  });
  app.get("/http-exception", () => {
    throw new HTTPException(418, { res: new Response("teapot", { status: 418 }) });
  });
  app.get("/raw", async () => Response.redirect("https://example.com/"));
  app.onError((error, c) => (error instanceof HTTPException ? error.getResponse() : c.text("error", 500)));
  return app;
}

describe("headers", () => {
  it.for([
    ["/", 200],
    ["/thrown", 500],
    ["/http-exception", 418],
    ["/raw", 302],
    ["/missing", 404],
  ] as const)("are on the answer of %s", async ([path, status], { expect }) => {
    const response = await appWith({}).request(path);
    expect(response.status).toBe(status);
    expect(response.headers.get("X-RateLimit-Remaining")).toBe("1");
    expect(response.headers.get("RateLimit-Policy")).toBe('"minute";q=2;w=60, "day";q=100;w=86400');
    expect(response.headers.has("Retry-After")).toBe(false);
  });

  it.for<[outer: number, inner: number, cost: number, status: number, limit: string, remaining: string]>([
    [2, 9, 1, 200, "2", "0"],
    [9, 2, 1, 200, "2", "0"],
    [9, 1, 1, 429, "1", "0"],
    // The outer one has less left, but the inner one refuses.
    [2, 3, 2, 429, "3", "1"],
  ])("of %d outside and %d inside, at the second request of cost %4$d inside", async (row, { expect }) => {
    const [outer, inner, cost, status, limit, remaining] = row;
    const { namespace } = objects();
    const app = new Hono();
    app.use(rateLimit({ namespace, key: () => "outer", limits: [perHour(outer)] }));
    app.use(rateLimit({ namespace, key: () => "inner", limits: [perMinute(inner)], cost: () => cost }));
    app.get("/", (c) => c.text("ok"));
    await app.request("/");
    const second = await app.request("/");
    const shown = ["Limit", "Remaining"].map((name) => second.headers.get(`X-RateLimit-${name}`));
    expect([second.status, ...shown]).toEqual([status, limit, remaining]);
    expect(second.headers.has("Retry-After")).toBe(status === 429);
  });

  it.for<[name: string, options: Partial<RateLimitOptions>, status: number]>([
    ["the default", {}, 429],
    ["one of the host", { onRefused: (c, { kind }) => c.json({ kind }, 400) }, 400],
    ["one that the host throws", { onRefused: () => Promise.reject(new Error("thrown")) }, 500],
    ["a raw one", { onRefused: () => Response.redirect("https://example.com/") }, 302],
    ["one that goes on", { onRefused: (_c, _verdict, next) => next() }, 200],
  ])("are on a refusal: %s", async ([, options, status], { expect }) => {
    const app = appWith(options);
    for (let i = 0; i < 2; i++) await app.request("/");
    const refused = await app.request("/");
    expect(refused.status).toBe(status);
    expect(refused.headers.get("X-RateLimit-Remaining")).toBe("0");
    expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(0);
  });
});

it("a refused request does not reach the route", async ({ expect }) => {
  const app = new Hono();
  app.use(rateLimit({ namespace: objects().namespace, key: () => "one", limits }));
  const route = vi.fn((c: Context) => c.text("ok"));
  app.get("/", route);
  for (let i = 0; i < 5; i++) await app.request("/");
  expect(route).toHaveBeenCalledTimes(2);
});

describe("options", () => {
  it("key, cost, credential, limits and location of a request go to the object", async ({ expect }) => {
    const { namespace, calls } = objects();
    const app = new Hono();
    app.use(
      rateLimit({
        namespace,
        key: (c) => c.req.header("x-key") ?? "",
        cost: () => 2,
        credential: async () => "hash",
        limits: () => limits,
        bans: {},
        locationHint: () => "weur",
      }),
    );
    const response = await app.request("/", { headers: { "x-key": "k1" } });
    expect(response.headers.get("X-RateLimit-Remaining")).toBe("0");
    expect(calls).toEqual([
      {
        name: "k1",
        options: { locationHint: "weur", retry: { timeoutMs: 2_000 } },
        call: { version: 1, cost: 2, credential: "hash", limits, bans: {} },
      },
    ]);
  });

  it.for<[skip: RateLimitOptions["skip"], counted: boolean]>([
    [() => true, false],
    [async () => true, false],
    [async () => false, true],
  ])("skip: %s", async ([skip, counted], { expect }) => {
    const { namespace, calls } = objects();
    const response = await appWith({ namespace, skip }).request("/");
    expect(await response.text()).toBe(counted ? "admitted" : "not counted");
    expect([response.headers.has("X-RateLimit-Limit"), calls.length]).toEqual([counted, counted ? 1 : 0]);
  });

  it("the same middleware twice around a route counts a request once", async ({ expect }) => {
    const limit = rateLimit({ namespace: objects().namespace, key: () => "one", limits });
    const app = new Hono().use("*", limit).use("/api/*", limit);
    app.get("/api/orders", (c) => c.text("ok"));
    const { headers } = await app.request("/api/orders");
    expect(headers.get("X-RateLimit-Remaining")).toBe("1");
  });

  it.for<[option: string, options: Partial<RateLimitOptions>]>([
    ["requests", { limits: [perMinute(-1)] }],
    ["strikes", { bans: { strikes: 0 } }],
    ["timeoutMs", { timeoutMs: Number.NaN }],
    ["timeoutMs", { timeoutMs: 0 }],
  ])("wrong %s throw when the middleware is made", ([option, options], { expect }) => {
    expect(() => appWith(options)).toThrow(option);
  });

  it.for<[of: string, options: Partial<RateLimitOptions>]>([
    ["cost", { cost: () => Number.NaN }],
    ["limits", { limits: () => [perMinute(-1)] }],
    // A program in JavaScript can return it.
    ["key", { key: () => undefined as unknown as string }],
  ])("a wrong %s is an error, also where the host fails open", async ([, options], { expect }) => {
    const app = appWith({ ...options, onUnreachable: (_c, next) => next() });
    expect((await app.request("/")).status).toBe(500);
  });

  it.for(["key", "namespace", "limits"])(
    "an error of %s is no failure of the object",
    async (name, { expect }) => {
      const broken = () => {
        throw new Error("no session");
      };
      const app = appWith({ [name]: broken, onUnreachable: (_c, next) => next() });
      expect((await app.request("/")).status).toBe(500);
    },
  );
});

describe("settle", () => {
  const ask = async (options: Partial<RateLimitOptions>, ...paths: string[]) => {
    const app = appWith({ limits: [perMinute(9)], ...options });
    const responses = [];
    for (const path of paths) responses.push(await app.request(path));
    return responses.map(({ headers, status }) => [status, headers.get("X-RateLimit-Remaining")]);
  };

  it("counts only failures, which errors of routes are, too", async ({ expect }) => {
    const failures: RateLimitOptions["settle"] = (c) => (c.res.ok ? 0 : 1);
    const answers = await ask({ settle: failures }, "/", "/", "/thrown", "/missing", "/");
    expect(answers).toEqual([
      [200, "8"],
      [200, "8"],
      [500, "8"],
      [404, "7"],
      [200, "6"],
    ]);
  });

  it.for<[settled: number | undefined, remaining: string, calls: number[]]>([
    [1, "4", [1, 1]],
    [4, "1", [4, 4]],
    [6, "3", [6]],
    [undefined, "1", []],
  ])("at %s of 4 leaves %s at the second request", async ([cost, remaining, calls], { expect }) => {
    const { namespace, settled } = objects();
    const [, second] = await ask({ namespace, cost: () => 4, settle: () => cost }, "/", "/");
    expect([second?.[1], settled]).toEqual([remaining, calls]);
  });

  it("that is lost keeps the reserve, is logged and does not touch the answer", async ({ expect }) => {
    const { namespace } = objects();
    const losing = () => ({
      getByName: (name: string) => ({
        ...namespace().getByName(name),
        settle: () => Promise.reject(new Error("lost")),
      }),
    });
    const answers = await ask({ namespace: losing, cost: () => 4, settle: () => 1 }, "/", "/");
    expect(answers).toEqual([
      [200, "5"],
      [200, "1"],
    ]);
    expect(logged()).toHaveBeenCalledWith(
      expect.stringContaining("settlement"),
      expect.objectContaining({ message: "lost" }),
    );
  });
});

describe("a settlement behind the answer", () => {
  it("waits for a promise, and the answer does not wait", async ({ expect }) => {
    const { namespace, settled } = objects();
    const tokens = Promise.withResolvers<number>();
    const app = appWith({ namespace, limits: [perMinute(9)], cost: () => 4, settle: () => tokens.promise });
    const behind: Promise<unknown>[] = [];
    // Hono asks for no other members.
    const context = {
      waitUntil: (work: Promise<unknown>) => behind.push(work),
    } as unknown as ExecutionContext;
    expect((await app.request("/", {}, {}, context)).headers.get("X-RateLimit-Remaining")).toBe("5");
    expect([behind.length, settled]).toEqual([1, []]);
    tokens.resolve(1);
    await Promise.all(behind);
    expect(settled).toEqual([1]);
    expect((await app.request("/")).headers.get("X-RateLimit-Remaining")).toBe("4");
  });

  it.for<[how: string, settle: RateLimitOptions["settle"], message: string]>([
    ["throws", () => JSON.parse("{"), "JSON"],
    ["rejects", () => Promise.reject(new Error("the stream broke")), "the stream broke"],
    ["gives a wrong cost", () => -1, "cost must be a whole number"],
  ])("that %s is logged, and the answer stays, and so does the reserve", async (row, { expect }) => {
    const [, settle, message] = row;
    const app = appWith({ limits: [perMinute(9)], cost: () => 4, settle });
    const answers = [await app.request("/"), await app.request("/")];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[1]?.headers.get("X-RateLimit-Remaining")).toBe("1");
    await vi.waitFor(() => {
      const logs = logged().mock.calls.map(([, error]) => String(error));
      expect(logs).toEqual([expect.stringContaining(message), expect.stringContaining(message)]);
    });
  });
});

describe("a binding that is missing", () => {
  it.for<[found: string, binding: unknown]>([
    ["undefined", undefined],
    ["no Durable Object namespace", { get: async () => null }],
  ])("is named, although the host fails open: %s", async ([found, RATE_LIMITER], { expect }) => {
    type E = { Bindings: { RATE_LIMITER: LimiterNamespace } };
    const namespace = (c: Context<E>) => c.env.RATE_LIMITER;
    const app = new Hono<E>()
      .use(rateLimit<E>({ namespace, key: () => "one", limits, onUnreachable: (_c, next) => next() }))
      .onError(({ message }, c) => c.text(message, 500));
    const response = await app.request("/", {}, { RATE_LIMITER });
    expect(response.status).toBe(500);
    expect(await response.text()).toContain(`c.env.RATE_LIMITER is ${found}`);
  });
});

describe("the default answer to a verdict, within a limiter that has 8 left", () => {
  const window = {
    name: "day",
    limit: 5,
    seconds: 86_400,
    startMs: 0,
    used: 5,
    remaining: 0,
    endsAtMs: 9e12,
  };
  const decided = { quota: [window], nowMs: 0, facts: {} };
  const ban = { id: "b", reason: null, endsAtMs: 9_000 };
  it.for<[verdict: string, answered: object, status: number, remaining: string]>([
    ["unknown", { kind: "unknown", reason: "no_such_key" }, 403, "8"],
    ["too costly", { kind: "too_costly", window, ...decided }, 413, "0"],
    // Objects of another version answer, while a deploy goes on.
    ["limited, without window and strikes", { kind: "limited", ...decided }, 429, "0"],
    ["banned, without a cost", { kind: "banned", ban, ...decided }, 429, "0"],
    ["admitted, with more members", { kind: "admitted", ...decided, priority: 1 }, 200, "0"],
    ["of a kind that is unknown here", { kind: "queued", ...decided }, 429, "0"],
    ["of such a kind, without a quota", { kind: "moved" }, 429, "8"],
  ])("%s", async ([, answered, status, remaining], { expect }) => {
    const stub = { admit: async () => answered, settle: async () => undefined };
    // The types are this version's.
    const namespace = (() => ({ getByName: () => stub })) as unknown as RateLimitOptions["namespace"];
    const outer = rateLimit({ namespace: objects().namespace, key: () => "one", limits: [perMinute(9)] });
    const response = await new Hono().use(outer).route("/", appWith({ namespace })).request("/");
    expect([response.status, response.headers.get("X-RateLimit-Remaining")]).toEqual([status, remaining]);
  });
});

/** A namespace whose objects answer in turn as told. */
function answering(...answers: (() => Promise<never>)[]) {
  const real = objects();
  let stubs = 0;
  const getByName = (name: string) => {
    const answer = answers[stubs++];
    return { ...real.namespace().getByName(name), ...(answer && { admit: answer }) };
  };
  return { namespace: () => ({ getByName }), stubs: () => stubs };
}

const failing = (properties: object) => () => Promise.reject(Object.assign(new Error("failed"), properties));

describe("an object that cannot be reached", () => {
  it("makes a 503 and a log line, or what onUnreachable says", async ({ expect }) => {
    const closed = await appWith({ namespace: answering(failing({})).namespace }).request("/");
    expect([closed.status, closed.headers.get("Retry-After")]).toEqual([503, "1"]);
    expect(logged()).toHaveBeenCalledWith(expect.objectContaining({ message: "failed" }));
    const open = await appWith({
      namespace: answering(failing({})).namespace,
      onUnreachable: (_, next) => next(),
    }).request("/");
    expect([open.status, await open.text()]).toEqual([200, "not counted"]);
  });

  it.for([
    ["retryable, which the runtime has retried", { retryable: true }, 503, 1],
    ["reset by a deploy", { retryable: true, durableObjectReset: true }, 200, 2],
    ["reset under load", { durableObjectReset: true, overloaded: true }, 503, 1],
    ["an error of its own", {}, 503, 1],
  ] as const)("is asked once more, with a new stub, only after a reset: %s", async (row, { expect }) => {
    const [, properties, status, calls] = row;
    const { namespace, stubs } = answering(failing(properties));
    expect((await appWith({ namespace }).request("/")).status).toBe(status);
    expect(stubs()).toBe(calls);
  });

  it.for([
    [1, 500],
    [1_500.5, 1_501],
    [90_000, 60_000],
  ])("with a timeout of %f ms: the runtime takes %i ms for its retries", async (row, { expect }) => {
    const [timeoutMs, retryMs] = row;
    const { namespace, calls } = objects();
    await appWith({ namespace, timeoutMs }).request("/");
    expect(calls[0]?.options).toEqual({ retry: { timeoutMs: retryMs } });
  });

  it("is waited for two seconds by default", async ({ expect }) => {
    const { namespace } = answering(() => new Promise(() => {}));
    let status = 0;
    const causes: unknown[] = [];
    const onUnreachable: RateLimitOptions["onUnreachable"] = (c, _, cause) => {
      causes.push(cause);
      return c.text("late", 503);
    };
    const asked = appWith({ namespace, onUnreachable }).request("/");
    void Promise.resolve(asked).then((response) => {
      status = response.status;
    });
    await vi.advanceTimersByTimeAsync(1_999);
    expect(status).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(status).toBe(503);
    expect(String(causes[0])).toBe("LimiterTimeoutError: rate limiter: no answer within 2000 ms");
  });
});

describe("addressKey", () => {
  it.for<[address: string | undefined, expected: string, options?: AddressOptions]>([
    ["203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["::FFFF:cb00:7107", "203.0.113.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::9", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8::/64"],
    ["::1", "::/64"],
    ["::1.2.3.4", "::/64"],
    ["abc:de::1", "abc:de::/64"],
    ["2001:db8:1:2ff::9", "2001:db8:1:200::/56", { ipv6Prefix: 56 }],
    ["2001:db8:1:2ff::9", "2001:db8:1::/48", { ipv6Prefix: 48 }],
    ["2001:db8:1:2ff::9", "2001:db8:1:2ff::9/128", { ipv6Prefix: 128 }],
    ["2001:db8:1:2ff::9", "::/0", { ipv6Prefix: 0 }],
    ["203.0.113.7:5678", "203.0.113.7"],
    ["[2001:db8::1]:443", "2001:db8::/64"],
    ["[2001:db8::1]", "2001:db8::/64"],
    ["::1%eth0", "unknown"],
    ["::1]/path", "unknown"],
    ["g::1", "unknown"],
    ["999.0.113.7", "unknown"],
    ["203.0.113.7, 203.0.113.8", "unknown"],
    ["a name", "unknown"],
    ["", "unknown"],
    [":x", "unknown"],
    [undefined, "unknown"],
  ])("of %s is %s", ([address, expected, options], { expect }) => {
    const headers: Record<string, string> = address === undefined ? {} : { "CF-Connecting-IP": address };
    expect(addressKey(new Request("https://a.example/", { headers }), options)).toBe(expected);
  });

  it.for([-1, 129, Number.NaN])("refuses a prefix of %s", (ipv6Prefix, { expect }) => {
    expect(() => addressKey(new Request("https://a.example/"), { ipv6Prefix })).toThrow("ipv6Prefix");
  });
});
