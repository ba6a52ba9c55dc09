/** The admin API over HTTP: a new key is valid, wrong requests, and every route without the token. What calls do: test/worker/admin. */
import { beforeAll, describe, it, vi } from "vitest";
import { adminRoutes } from "../../src/worker/admin/routes.ts";
import { ADMIN_TOKEN, LIST, openService, type Service } from "../support/service.ts";

// Node has no such module. The routes are only counted here.
vi.mock("cloudflare:workers", () => ({ DurableObject: class {} }));

const MISSING = "key_0123456789ab";

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

  it("is shown with the live usage of both windows, its ban and its last day of use", async ({ expect }) => {
    const key = await newKey();
    for (let i = 0; i < 3; i++) await service.call(key.key, LIST);
    await service.admin("PUT", `/keys/${key.id}/ban`, { seconds: 60, reason: "abuse" });
    const { body } = await service.admin("GET", `/keys/${key.id}`);
    expect(body).toMatchObject({
      lastUsedDay: new Date().toISOString().slice(0, 10),
      live: {
        day: { limit: 10_000, used: 3, remaining: 9_997 },
        minute: { limit: 300 },
        strikes: 0,
        ban: { cause: "operator", reason: "abuse" },
      },
    });
    expect(body.key).toBeUndefined();
  });
});

describe("a wrong request", () => {
  const newKeyBody = { name: "acme", plan: "pro" };
  const wrong: [method: string, path: string, body: unknown, named: string[]][] = [
    ["POST", "/keys", {}, ["name: is required", "plan: is required"]],
    [
      "POST",
      "/keys",
      { name: " ", plan: "gold", requestsPerMinute: 0, requestsPerDay: 1.5, expiresAt: "soon", a: 1 },
      ["name: must not", "plan: must be", "requestsPerMinute: ", "requestsPerDay: ", "expiresAt: ", "a: "],
    ],
    [
      "POST",
      "/keys",
      { name: "e", plan: "enterprise" },
      ["requestsPerMinute: is req", "requestsPerDay: is req"],
    ],
    ["POST", "/keys", { ...newKeyBody, expiresAt: "2020-01-01" }, ["expiresAt: must lie in the future"]],
    [
      "POST",
      "/keys",
      { ...newKeyBody, expiresAt: "9999-12-31T23:59:59-12:00" },
      ["expiresAt: must be a date"],
    ],
    ["POST", "/keys", { ...newKeyBody, expiresAt: "2027-02-30" }, ["expiresAt: must be a date"]],
    [
      "POST",
      "/keys",
      { ...newKeyBody, name: "a\u001b[2Jb" },
      ["name: must not have control or bidirectional characters"],
    ],
    ["POST", "/keys", { ...newKeyBody, name: "x".repeat(101) }, ["name: must have at most 100"]],
    ["POST", "/keys", { ...newKeyBody, constructor: 1 }, ["constructor: is not a known field"]],
    ["POST", "/keys", '{"name":', ["The body is not valid JSON."]],
    ["POST", "/keys", [newKeyBody], ["The body is not a JSON object."]],
    ["POST", "/keys", '"acme"', ["The body is not a JSON object."]],
    ["PATCH", "/keys/ID", {}, ["This changes nothing."]],
    ["PATCH", "/keys/ID", { plan: "enterprise" }, ["requestsPerMinute: is req", "requestsPerDay: is req"]],
    ["PATCH", "/keys/ID", { disabled: "yes", limit: 1 }, ["disabled: must be", "limit: is not a known"]],
    [
      "POST",
      "/keys",
      { ...newKeyBody, requestsPerMinute: 30_001, requestsPerDay: 43_200_001 },
      [
        "requestsPerMinute: must be a whole number from 1 to 30000, the most that one limiter serves",
        "requestsPerDay: must be a whole number from 1 to 43200000, the most that one limiter serves",
      ],
    ],
    [
      "PATCH",
      "/keys/ID",
      { requestsPerMinute: 30_001 },
      ["requestsPerMinute: must be a whole number from 1 to"],
    ],
    [
      "PATCH",
      "/plans/enterprise",
      { requestsPerDay: 43_200_001 },
      ["requestsPerDay: must be a whole number"],
    ],
    ["POST", "/keys", { id: "key_1", name: "a", plan: "pro" }, ["id: must be key_ and 12 letters or digits"]],
    ["POST", "/keys/ID/rotate", { graceSeconds: -1 }, ["graceSeconds: must be a whole number from 0"]],
    ["POST", "/keys/ID/rotate", [], ["The body is not a JSON object."]],
    ["PUT", "/keys/ID/ban", {}, ["seconds: is required", "reason: is required"]],
    ["PATCH", "/plans/pro", { requestsPerMinute: "5" }, ["requestsPerMinute: must be a whole number"]],
    ["GET", "/keys?limit=0&plan=gold&name=a", undefined, ["plan: ", "limit: ", "name: is not a known"]],
    [
      "GET",
      "/keys?sort=size&direction=up&unusedSince=2026-02-30&expiringBefore=soon",
      undefined,
      [
        "expiringBefore: must be a date",
        "unusedSince: must be a date",
        "sort: must be",
        "direction: must be",
      ],
    ],
    [
      "PATCH",
      "/keys/ID",
      { ownerName: "a\u202eb", ownerEmail: "a@b@c", note: "a\tb" },
      ["ownerName: must not have", "ownerEmail: must be an e-mail address", "note: must not have control"],
    ],
    [
      "PATCH",
      "/keys/ID",
      { ownerName: "", ownerEmail: `${"a".repeat(250)}@b.test`, note: "x".repeat(1_001) },
      ["ownerName: must not be empty", "ownerEmail: must have at most 254", "note: must have at most 1000"],
    ],
    ["POST", "/keys/find", { hash: "abc" }, ["hash: must be 64 lower-case hex digits"]],
    ["GET", "/keys/ID/usage?by=key&from=soon", undefined, ["from: must be a date", "by: must be one of"]],
    ["GET", "/usage?from=2026-02-29&to=7w", undefined, ["from: must be a date", "to: must be a date"]],
    ["GET", "/usage?sort=size&format=xml&by=week", undefined, ["by: ", "sort: ", "format: "]],
    ["GET", "/usage?from=2026-02-28&after=1", undefined, ["after: must be the `next` of a page"]],
    ["GET", "/bans?state=ended", undefined, ["state: must be one of live, past, all"]],
    ["GET", "/audit?before=x&limit=501", undefined, ["before: ", "limit: "]],
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

  const absent: [method: string, path: string, body?: object][] = [
    ["GET", `/keys/${MISSING}`],
    ["PATCH", `/keys/${MISSING}`, { name: "x" }],
    ["POST", `/keys/${MISSING}/rotate`],
    ["DELETE", `/keys/${MISSING}`],
    ["GET", `/keys/${MISSING}/usage`],
    ["PUT", `/keys/${MISSING}/ban`, { seconds: 1, reason: "x" }],
    ["DELETE", `/keys/${MISSING}/ban`],
    ["GET", "/plans/gold"],
    ["PATCH", "/plans/gold", { requestsPerDay: 1 }],
    ["GET", "/orders/404404"],
    ["GET", "/orders/007"],
    ["PATCH", "/orders/404404", { status: "shipped" }],
    ["GET", "/nothing"],
  ];
  for (const [method, path, body] of absent) {
    it(`${method} ${path} is not found`, async ({ expect }) => {
      const answer = await service.admin(method, path, body);
      expect([answer.status, answer.body.code]).toEqual([404, "not_found"]);
    });
  }
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
