/** What all responses have in common. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import type { Bindings } from "../../../src/worker/context.ts";
import { createKey, insertOrders, newOrderId } from "../../support/factories.ts";
import { type App, captureLog, setClock, startApp, watchDatabase } from "../../support/worker.ts";

const LIST = "/v1/store/orders";

let log: ReturnType<typeof captureLog>;
beforeEach(() => {
  log = captureLog();
});
afterEach(() => {
  log.restore();
  vi.useRealTimers();
});

/** One response of every status in the public interface. The clock stands, or a new minute could admit the 429. */
async function answersOfEveryStatus(): Promise<Map<string, Response>> {
  setClock(Date.UTC(2036, 2, 1, 12));
  const { key } = await createKey();
  const { key: used } = await createKey({ perMinute: 1 });
  const app = startApp();
  const database = watchDatabase();
  const withoutDatabase = startApp({ DB: database.DB });
  const [pending, shipped] = [newOrderId(), newOrderId()];
  await insertOrders({ id: pending }, { id: shipped, status: "shipped" });
  await app(LIST, { key: used });
  const etag = (await app(LIST, { key })).headers.get("ETag") ?? "";

  const answers = new Map<string, Response>();
  answers.set("200", await app(LIST, { key }));
  answers.set("HEAD 200", await app(LIST, { key, method: "HEAD" }));
  answers.set("304", await app(LIST, { key, headers: { "If-None-Match": etag } }));
  answers.set("204", await app(`${LIST}/${pending}`, { key, method: "DELETE" }));
  answers.set("401", await app(LIST));
  answers.set("403", await app(LIST, { key, origin: "http://orders.example", headers: { "CF-Ray": "1" } }));
  answers.set("404 order", await app(`${LIST}/${pending}`, { key, method: "DELETE" }));
  answers.set("404 path", await app("/v1/nothing", { key }));
  answers.set("404 outside", await app("/nothing"));
  answers.set("405", await app(LIST, { key, method: "POST" }));
  answers.set("409", await app(`${LIST}/${shipped}`, { key, method: "DELETE" }));
  answers.set("414", await app(`${LIST}?${"x".repeat(5_000)}`, { key }));
  answers.set("429", await app(LIST, { key: used }));
  database.failWith("x is not a function");
  answers.set("500", await withoutDatabase(LIST, { key }));
  database.failWith("D1 DB is overloaded. Requests queued for too long.");
  answers.set("503", await withoutDatabase(LIST, { key }));
  return answers;
}

describe("every response", () => {
  it("has the X-RateLimit headers, the security headers and X-Request-Id", async ({ expect }) => {
    const ids = new Set<string | null>();
    for (const [name, response] of await answersOfEveryStatus()) {
      expect(name).toContain(String(response.status));
      for (const header of ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]) {
        expect(response.headers.get(header), `${name}: ${header}`).toMatch(/^\d+$/);
      }
      expect(Object.fromEntries(response.headers), name).toMatchObject({
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "content-security-policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
        "strict-transport-security": "max-age=31536000; includeSubDomains",
      });
      expect(response.headers.has("Access-Control-Allow-Origin"), name).toBe(false);
      ids.add(response.headers.get("X-Request-Id"));
    }
    expect(ids.has(null)).toBe(false);
    expect(ids.size).toBe(15);
  });

  it("is an Error object as JSON, with no-store, if it is an error", async ({ expect }) => {
    for (const [name, response] of await answersOfEveryStatus()) {
      if (response.status < 400) continue;
      const body = (await response.json()) as Record<string, unknown>;
      expect(response.headers.get("Content-Type"), name).toBe("application/json");
      expect(response.headers.get("Cache-Control"), name).toBe("no-store");
      expect(Object.keys(body), name).toEqual(["code", "message", "status"]);
      expect(body, name).toMatchObject({ code: expect.any(String), message: expect.any(String) });
      expect(body.status, name).toBe(response.status);
    }
  });

  it("has one log line with its request id, status, method and duration", async ({ expect }) => {
    const answers = [...(await answersOfEveryStatus()).values()];
    for (const response of answers) {
      const id = response.headers.get("X-Request-Id");
      const lines = log.lines().filter((line) => line.event === "request" && line.requestId === id);
      expect(lines).toMatchObject([
        { status: response.status, method: expect.any(String), durationMs: expect.any(Number) },
      ]);
    }
  });

  it("has a new request id, not one from the client", async ({ expect }) => {
    const response = await startApp()("/nothing", { headers: { "X-Request-Id": "mine" } });
    expect(response.headers.get("X-Request-Id")).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("a path", () => {
  it("under /v1 that does not exist is 401 without a key and 404 with one", async ({ expect }) => {
    const { key } = await createKey();
    const app = startApp();
    for (const path of [
      "/v1",
      "/v1/",
      "/v1/nothing",
      "/v1/store",
      `${LIST}/`,
      `${LIST}/1/items`,
      "/v1/pets",
    ]) {
      for (const method of ["GET", "POST", "DELETE"]) {
        expect((await app(path, { method })).status, `${method} ${path}`).toBe(401);
        const response = await app(path, { method, key });
        expect(response.status, `${method} ${path}`).toBe(404);
        expect(await response.json()).toMatchObject({ code: "not_found" });
      }
    }
  });

  it("with a wrong method is 401 without a key", async ({ expect }) => {
    expect((await startApp()(LIST, { method: "POST" })).status).toBe(401);
  });

  it("outside /v1 or under another version is 404, with a key and without", async ({ expect }) => {
    const { key } = await createKey();
    const app = startApp();
    for (const path of ["/store/orders", "/v2/store/orders", "/v10/store/orders", "/V1/store/orders"]) {
      for (const init of [{}, { key }]) {
        const response = await app(path, init);
        expect(response.status, path).toBe(404);
        expect(await response.json()).toMatchObject({ code: "not_found" });
      }
    }
  });

  it("is logged as the route pattern, never as the client sent it", async ({ expect }) => {
    const { key } = await createKey();
    const app = startApp();
    await app(`${LIST}?key=private`, { key });
    await app(`${LIST}/private`, { key, method: "DELETE" });
    await app(`${LIST}/private`, { key });
    await app("/v1/private", { key });
    await app(`${LIST}/private`, { method: "DELETE" });
    await app("/private");
    const requests = log.lines().filter((line) => line.event === "request");
    expect(requests.map((line) => line.route)).toEqual([
      LIST,
      `${LIST}/:orderId`,
      "/v1/*",
      "/v1/*",
      `${LIST}/:orderId`,
      "/*",
    ]);
    expect(log.text()).not.toContain("private");
  });
});

describe("a method", () => {
  const cases: [method: string, path: string, allow: string[]][] = [
    ["POST", LIST, ["GET", "HEAD"]],
    ["PUT", LIST, ["GET", "HEAD"]],
    ["PATCH", LIST, ["GET", "HEAD"]],
    ["DELETE", LIST, ["GET", "HEAD"]],
    ["OPTIONS", LIST, ["GET", "HEAD"]],
    ["GET", `${LIST}/1`, ["DELETE"]],
    ["HEAD", `${LIST}/1`, ["DELETE"]],
    ["PUT", `${LIST}/1`, ["DELETE"]],
  ];
  for (const [method, path, allow] of cases) {
    it(`${method} on ${path} is 405, and Allow has the supported methods`, async ({ expect }) => {
      const { key } = await createKey();
      const response = await startApp()(path, { method, key });
      expect(response.status).toBe(405);
      expect((response.headers.get("Allow") ?? "").split(", ").sort()).toEqual(allow);
      const body = await response.text();
      if (method === "HEAD") expect(body).toBe("");
      else expect(JSON.parse(body)).toMatchObject({ code: "method_not_allowed", status: 405 });
    });
  }

  it("HEAD is answered like GET, without a body", async ({ expect }) => {
    const { key } = await createKey();
    const app = startApp();
    await insertOrders({ id: newOrderId() });
    for (const [path, sentKey] of [
      [LIST, key],
      [LIST, ""],
      ["/v1/nothing", key],
      ["/nothing", key],
    ] as const) {
      const get = await app(path, { key: sentKey });
      const head = await app(path, { key: sentKey, method: "HEAD" });
      expect(head.status, path).toBe(get.status);
      expect(await head.text(), path).toBe("");
      for (const header of ["Content-Type", "ETag", "Cache-Control", "WWW-Authenticate"]) {
        expect(head.headers.get(header), `${path}: ${header}`).toBe(get.headers.get(header));
      }
    }
  });
});

describe("a browser on another origin", () => {
  const ORIGIN = "https://shop.example";
  const preflight = {
    method: "OPTIONS",
    headers: {
      Origin: ORIGIN,
      "Access-Control-Request-Method": "DELETE",
      "Access-Control-Request-Headers": "authorization,if-none-match",
    },
  };

  function appFor(origins: Bindings["CORS_ORIGINS"]): App {
    return startApp(origins === undefined ? {} : { CORS_ORIGINS: origins });
  }

  it("gets no CORS headers by default, and its preflight is a request without a key", async ({ expect }) => {
    const { key } = await createKey();
    for (const app of [appFor(undefined), appFor("")]) {
      expect((await app(LIST, preflight)).status).toBe(401);
      const response = await app(LIST, { key, headers: { Origin: ORIGIN } });
      expect(response.status).toBe(200);
      expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  });

  it("may call if its origin is listed, and the preflight needs no key", async ({ expect }) => {
    const others = "https://admin.example:8443 http://localhost:3000 http://[::1]:8080";
    const response = await appFor(`${others}, ${ORIGIN}`)(`${LIST}/1`, preflight);
    expect(response.status).toBe(204);
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe(ORIGIN);
    expect(response.headers.get("Access-Control-Allow-Methods")).toBe("GET,HEAD,DELETE");
    expect(response.headers.get("Access-Control-Allow-Headers")).toBe("Authorization,If-None-Match");
    expect(response.headers.get("Vary")).toContain("Origin");
    expect(response.headers.get("X-RateLimit-Limit")).toBe("0");
  });

  it("has its OPTIONS counted and answered 405 if it carries a key or is no preflight", async ({
    expect,
  }) => {
    setClock(Date.UTC(2031, 0, 1)); // no minute ends between two requests
    const { key } = await createKey({ perMinute: 10 });
    const app = appFor(ORIGIN);
    const { "Access-Control-Request-Method": _, ...withoutMethod } = preflight.headers;
    const { Origin, ...withoutOrigin } = preflight.headers;
    for (const [i, headers] of [preflight.headers, withoutMethod, withoutOrigin, {}].entries()) {
      const response = await app(LIST, { method: "OPTIONS", headers, key });
      expect(response.status).toBe(405);
      expect(response.headers.get("X-RateLimit-Remaining")).toBe(String(9 - i));
    }
    expect((await app(LIST, { method: "OPTIONS", headers: { Origin } })).status).toBe(401);
  });

  it("may read every header of the OpenAPI document, on errors too", async ({ expect }) => {
    const { key } = await createKey();
    const app = appFor(ORIGIN);
    const document = await (await app("/openapi.json")).json<{ components: { headers: object } }>();
    for (const sent of [key, "wrong"]) {
      const response = await app(LIST, { key: sent, headers: { Origin: ORIGIN } });
      expect(response.headers.get("Access-Control-Allow-Origin")).toBe(ORIGIN);
      const exposed = (response.headers.get("Access-Control-Expose-Headers") ?? "").split(",");
      expect(exposed.sort()).toEqual(Object.keys(document.components.headers).sort());
    }
  });

  it("gets no CORS headers if its origin is not listed, or outside /v1", async ({ expect }) => {
    const { key } = await createKey();
    const similar = ["http://shop.example", `${ORIGIN}.attacker.example`, `${ORIGIN}:8443`, "null"];
    for (const Origin of ["https://elsewhere.example", "https://my.shop.example", ...similar]) {
      const response = await appFor(ORIGIN)(LIST, { key, headers: { Origin } });
      expect(response.headers.has("Access-Control-Allow-Origin"), Origin).toBe(false);
    }
    const outside = await appFor(ORIGIN)("/nothing", { headers: { Origin: ORIGIN } });
    expect(outside.headers.has("Access-Control-Allow-Origin")).toBe(false);
  });
});

describe("plain HTTP", () => {
  const origin = "http://orders.example";

  it("is refused under /v1 and /admin before a credential is read, with the reason in the log", async ({
    expect,
  }) => {
    const { key } = await createKey();
    const { DB, queries } = watchDatabase();
    const app = startApp({ DB, CORS_ORIGINS: "https://shop.example" });
    const preflight = { Origin: "https://shop.example", "Access-Control-Request-Method": "GET" };
    for (const [path, sent] of [
      [LIST, { key }],
      [LIST, {}],
      [LIST, { method: "OPTIONS", headers: preflight }],
      ["/v1", { key }],
      ["/%761/store/orders", { key }],
      ["/v1/pets/1", { key }],
      ["/admin", { key: env.ADMIN_TOKEN }],
      ["/admin/plans", { key: env.ADMIN_TOKEN }],
    ] as const) {
      const headers = { ...("headers" in sent ? sent.headers : {}), "CF-Ray": "8f0a1b2c3d4e5f60-FRA" };
      const response = await app(path, { ...sent, origin, headers });
      expect(response.status, path).toBe(403);
      expect(await response.json()).toMatchObject({ code: "https_required" });
      expect(log.lines().at(-1)).toMatchObject({ status: 403, reason: "plain http", network: "unknown" });
    }
    expect(queries()).toEqual([]);
    const pets = await app("/v1/pets/1", { origin, headers: { "CF-Ray": "1" } });
    expect(pets.headers.has("Sunset")).toBe(true);
  });

  it("is served without Cloudflare's edge in front, and where no credential is needed", async ({
    expect,
  }) => {
    const { key } = await createKey();
    const app = startApp();
    for (const local of ["http://localhost:8787", "http://127.0.0.1:8787", origin]) {
      expect((await app(LIST, { key, origin: local })).status, local).toBe(200);
    }
    const tunnel = { "CF-Ray": "1", "CF-Visitor": '{"scheme":"https"}' };
    expect((await app(LIST, { key, origin, headers: tunnel })).status).toBe(200);
    for (const path of ["/", "/openapi.json", "/health"]) {
      expect((await app(path, { origin, headers: { "CF-Ray": "1" } })).status, path).toBe(200);
    }
  });
});

describe("a failure", () => {
  it("of the database is 503 with Retry-After and no internal details", async ({ expect }) => {
    const database = watchDatabase();
    const app = startApp({ DB: database.DB });
    const { key } = await createKey();
    database.failWith("D1_ERROR: Network connection lost.");
    for (const path of [LIST, "/v1/nothing"]) {
      const response = await app(path, { key });
      expect(response.status).toBe(503);
      expect(response.headers.get("Retry-After")).toBe("5");
      expect(await response.json()).toEqual({
        code: "service_unavailable",
        message: "The database cannot be reached. Please try again.",
        status: 503,
      });
    }
    database.failWith(undefined);
    expect((await app(LIST, { key })).status).toBe(200);
  });

  it("that is a bug is 500 with a fixed message; the cause is logged with the request id", async ({
    expect,
  }) => {
    const database = watchDatabase();
    const app = startApp({ DB: database.DB });
    const { key } = await createKey();
    database.failWith("D1_ERROR: no such column: secret_column: SQLITE_ERROR");
    const response = await app(LIST, { key });
    expect(response.status).toBe(500);
    expect(await response.text()).toBe(
      '{"code":"internal_error","message":"Something went wrong on our side. Please try again later.","status":500}',
    );
    expect([...response.headers.values()].join()).not.toContain("secret_column");
    const [failure] = log.lines().filter((line) => line.event === "request_failed");
    expect(failure?.requestId).toBe(response.headers.get("X-Request-Id"));
    expect(JSON.stringify(failure)).toContain("secret_column");
    expect(log.text()).not.toContain(key.slice(4));
  });

  it("of a setting is 500 on every request until the variable is valid", async ({ expect }) => {
    const { key } = await createKey();
    expect((await startApp({ D1_READ_REPLICATION: "on" })(LIST, { key })).status).toBe(500);
    expect(log.text()).toContain("D1_READ_REPLICATION");
  });
});
