/** The admin API over HTTP: a new key, wrong requests, and every route without the token. */
import { beforeAll, describe, it, vi } from "vitest";
import { routeOf } from "../../src/worker/admin/call.ts";
import { CALLS } from "../../src/worker/admin/calls.ts";
import { adminRoutes } from "../../src/worker/admin/routes.ts";
import { ADMIN_TOKEN, LIST, openService, type Service } from "../support/service.ts";

// Node has no such module. The routes are only counted here.
vi.mock("cloudflare:workers", () => ({ DurableObject: class {} }));

let service: Service;

beforeAll(async () => {
  service = await openService();
});

async function newKey(fields: object = {}) {
  return (await service.admin("POST", "/keys", { name: "acme", plan: "pro", ...fields })).body;
}

describe("the header X-Operator", () => {
  // The runtime decodes headers, so only bytes that were sent show what arrives.
  it("has a name in UTF-8, which the audit log shows; other bytes are a 400", async ({ expect }) => {
    const { id } = await newKey();
    const actorFor = async (name: Buffer) => {
      const headers = { "X-Operator": name.toString("latin1") };
      const init = { method: "PATCH", headers, body: '{"note":"named"}' };
      const { status } = await service.call(ADMIN_TOKEN, `/admin/keys/${id}`, init);
      const { body } = await service.admin("GET", `/audit?object=${id}&limit=1`);
      return status === 200 ? body.audit : status;
    };
    for (const name of ["Zoë", "Zoë Зоя"])
      expect(await actorFor(Buffer.from(name))).toMatchObject([{ actor: name }]);
    for (const name of [Buffer.from("Zoë", "latin1"), Buffer.from([0xd0, 0x97, 0xff])])
      expect(await actorFor(name)).toBe(400);
  });
});

describe("a key", () => {
  it("is issued with 201, its location and its secret, which is valid at once", async ({ expect }) => {
    const { status, headers, body } = await service.admin("POST", "/keys", {
      name: " acme ",
      plan: "pro",
      requestsPerMinute: 7,
      expiresAt: "2099-12-31T23:59:59+01:00",
    });
    expect(status).toBe(201);
    expect(headers.get("Location")).toBe(`/admin/keys/${body.id}`);
    expect(headers.get("Cache-Control")).toBe("no-store");
    expect(body).toMatchObject({
      name: "acme",
      plan: "pro",
      status: "active",
      requestsPerMinute: 7,
      requestsPerDay: null,
      limits: { requestsPerMinute: 7, requestsPerDay: 10_000 },
      expiresAt: "2099-12-31T22:59:59Z",
      lastUsedDay: null,
      secrets: [{ hint: `${body.key.slice(0, 6)}…${body.key.slice(-4)}`, expiresAt: null }],
    });
    const response = await service.call(body.key, LIST);
    expect(response.status).toBe(200);
    expect(response.headers.get("X-RateLimit-Limit")).toBe("7");
  });
});

describe("a wrong request", () => {
  // What each member must be: test/unit/admin/members.test.ts.
  const wrong: [method: string, path: string, body: unknown, named: string[]][] = [
    ["POST", "/keys", {}, ["name: is required", "plan: is required"]],
    [
      "POST",
      "/keys",
      { name: "e", plan: "enterprise" },
      ["requestsPerMinute: is req", "requestsPerDay: is req"],
    ],
    ["POST", "/keys", '{"name":', ["The body is not valid JSON."]],
    ["POST", "/keys", '"acme"', ["The body is not a JSON object."]],
    ["PATCH", "/keys/ID", {}, ["This changes nothing."]],
    ["PATCH", "/keys/ID", { plan: "enterprise" }, ["requestsPerMinute: is req", "requestsPerDay: is req"]],
    ["GET", "/keys?limit=0&name=a", undefined, ["limit: ", "name: is not a known"]],
    ["GET", "/usage?from=2026-02-28&after=1", undefined, ["after: must be the `next` of a page"]],
    ["PUT", "/orders", undefined, ["The body is not a JSON array of orders."]],
  ];
  for (const [method, path, body, named] of wrong) {
    it(`${method} ${path} ${JSON.stringify(body)?.slice(0, 60) ?? ""} names every invalid field`, async ({
      expect,
    }) => {
      const { id } = await service.createKey();
      const answer = await service.admin(method, path.replace("ID", id), body);
      expect(answer.body).toMatchObject({ code: "invalid_request", status: 400 });
      expect(answer.status).toBe(400);
      expect(answer.body.message.split("; ")).toEqual(named.map((start) => expect.stringContaining(start)));
    });
  }

  it.for(CALLS.filter(({ route }) => /:(?:id|orderId)\b/.test(route)))(
    "$route of an object that does not exist is a 404",
    async (call, { expect }) => {
      const { method, path } = routeOf(call);
      const answer = await service.admin(method, path.replaceAll(/:\w+/g, "404404"), call.example.body);
      expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
    },
  );

  it("of a path that does not exist is a 404", async ({ expect }) => {
    expect((await service.admin("GET", "/nothing")).status).toBe(404);
    expect((await service.admin("GET", "/orders/007")).status).toBe(404);
  });
});

describe("without the admin token", () => {
  const calls = adminRoutes.routes
    .filter(({ method }) => method !== "ALL")
    .map(({ method, path }) => ({ method, path: `/admin${path}`.replace(/:\w+/g, "1").replace(/\/$/, "") }));
  const paths = [...new Set(calls.map(({ path }) => path)), "/admin", "/admin/", "/admin/nothing"];
  const others = paths.flatMap((path) => ["HEAD", "OPTIONS"].map((method) => ({ method, path })));

  it("every path and method answers 401 or 404, also with an API key as the token", async ({ expect }) => {
    expect(calls.length).toBeGreaterThan(15);
    const { key } = await service.createKey();
    const wrong = [null, `${ADMIN_TOKEN}x`, key];
    const answers: string[] = [];
    for (const [i, { method, path }] of [...calls, ...others].entries()) {
      const response = await service.call(wrong[i % 3] ?? null, path, { method });
      answers.push(`${response.status} ${method} ${path}`);
    }
    expect(answers.filter((answer) => !/^40[14] /.test(answer))).toEqual([]);
    const [first] = calls;
    for (const token of wrong) {
      const response = await service.call(token, first?.path ?? "", { method: first?.method ?? "GET" });
      expect(response.status).toBe(401);
      expect(response.headers.get("WWW-Authenticate")).toBe('Bearer realm="store-orders-admin"');
    }
  });
});
