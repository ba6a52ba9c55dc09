/** The middleware in a Hono app: headers on whatever comes back, its options, and an object that fails, is slow or was reset. */
import { type Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import {
  type Call,
  clientAddress,
  perDay,
  perMinute,
  RateLimiter,
  type RateLimitOptions,
  rateLimit,
} from "../../../src/limiter/index.ts";
import { Platform } from "./platform.ts";

// No test crosses a minute.
beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 21, 12), toFake: ["Date", "setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** The real object in each name's platform. Calls are recorded. */
function objects() {
  const platforms = new Map<string, Platform<RateLimiter>>();
  const calls: { name: string; call: Call; options: unknown }[] = [];
  const getByName = (name: string, options?: unknown) => {
    const platform = platforms.get(name) ?? new Platform(RateLimiter);
    platforms.set(name, platform);
    return {
      admit: (call: Call) => {
        calls.push({ name, call, options });
        return platform.object.admit(call);
      },
      settle: (settleId: string, cost: number) => platform.object.settle(settleId, cost),
    };
  };
  return { namespace: () => ({ getByName }), calls };
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

  it("of two middlewares, a refusal by the inner one shows the inner one's limit", async ({ expect }) => {
    const { namespace } = objects();
    const app = new Hono();
    app.use(rateLimit({ namespace, key: () => "outer", limits: [perMinute(60)] }));
    app.use(rateLimit({ namespace, key: () => "inner", limits: [perMinute(1)] }));
    app.get("/", (c) => c.text("ok"));
    await app.request("/");
    const { status, headers } = await app.request("/");
    expect([status, headers.get("X-RateLimit-Limit"), headers.get("X-RateLimit-Remaining")]).toEqual([
      429,
      "1",
      "0",
    ]);
  });

  it.for<[name: string, options: Partial<RateLimitOptions>, status: number]>([
    ["the default", {}, 429],
    ["one of the host", { onRefused: (c, { kind }) => c.json({ kind }, 400) }, 400],
    ["one that the host throws", { onRefused: () => Promise.reject(new Error("thrown")) }, 500],
    ["a raw one", { onRefused: () => Response.redirect("https://example.com/") }, 302],
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
        options: { locationHint: "weur" },
        call: { version: 1, cost: 2, credential: "hash", limits, bans: {} },
      },
    ]);
  });

  it("skip counts nothing and sets no header", async ({ expect }) => {
    const { namespace, calls } = objects();
    const response = await appWith({ namespace, skip: () => true }).request("/");
    expect(await response.text()).toBe("not counted");
    expect(response.headers.has("X-RateLimit-Limit")).toBe(false);
    expect(calls).toEqual([]);
  });

  it("wrong limits throw when the middleware is made", ({ expect }) => {
    expect(() => appWith({ limits: [perMinute(0)] })).toThrow("whole number");
  });

  it.for<[of: string, options: Partial<RateLimitOptions>]>([
    ["cost", { cost: () => Number.NaN }],
    ["limits", { limits: () => [perMinute(0)] }],
  ])("a wrong %s is an error, also where the host fails open", async ([, options], { expect }) => {
    const app = appWith({ ...options, onUnreachable: (_c, next) => next() });
    expect((await app.request("/")).status).toBe(500);
  });

  it("an error of the host's own functions is no failure of the object", async ({ expect }) => {
    const key = () => {
      throw new Error("no session");
    };
    expect((await appWith({ key }).request("/")).status).toBe(500);
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
  it("makes a 503, or what onUnreachable says", async ({ expect }) => {
    const closed = await appWith({ namespace: answering(failing({})).namespace }).request("/");
    expect([closed.status, closed.headers.get("Retry-After")]).toEqual([503, "1"]);
    const open = await appWith({
      namespace: answering(failing({})).namespace,
      onUnreachable: (_, next) => next(),
    }).request("/");
    expect([open.status, await open.text()]).toEqual([200, "not counted"]);
  });

  it.for([
    ["retryable", { retryable: true }, 200, 2],
    ["reset by a deploy", { durableObjectReset: true }, 200, 2],
    ["overloaded", { retryable: true, overloaded: true }, 503, 1],
    ["an error of its own", {}, 503, 1],
  ] as const)("is asked once more with a new stub only where that is safe: %s", async (row, { expect }) => {
    const [, properties, status, calls] = row;
    const { namespace, stubs } = answering(failing(properties));
    expect((await appWith({ namespace }).request("/")).status).toBe(status);
    expect(stubs()).toBe(calls);
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

describe("clientAddress", () => {
  it.for([
    ["203.0.113.7", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["::FFFF:cb00:7107", "203.0.113.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::9", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8::/64"],
    ["::1", "::/64"],
    [undefined, "unknown"],
  ] as const)("of %s is %s", async ([address, expected], { expect }) => {
    const app = new Hono().get("/", (c) => c.text(clientAddress(c)));
    const headers: Record<string, string> = address === undefined ? {} : { "CF-Connecting-IP": address };
    expect(await (await app.request("/", { headers })).text()).toBe(expected);
  });
});
