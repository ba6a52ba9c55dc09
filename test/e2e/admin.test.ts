/** The admin API over HTTP: every route, refused requests, and accepted credentials. */
import { beforeAll, describe, it, vi } from "vitest";
import { adminRoutes } from "../../src/worker/admin/routes.ts";
import { MAX_FAILURES } from "../../src/worker/admin/sign-in/sign-in-limit.ts";
import { ADMIN_TOKEN, LIST, openService, type Service, untilMinuteHas } from "../support/service.ts";

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

async function idsOf(path: string): Promise<unknown[]> {
  const { body } = await service.admin("GET", path);
  return (body.keys as { id: string }[]).map(({ id }) => id);
}

describe("a key", () => {
  it("is issued with 201, its location and its secret, which is valid at once", async ({ expect }) => {
    const { status, headers, body } = await service.admin("POST", "/keys", {
      name: " acme ",
      plan: "pro",
      requestsPerMinute: 7,
      expiresAt: "2099-01-01",
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
      expiresAt: "2099-01-01T00:00:00Z",
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

  it("is listed masked, filtered by plan, status and part of the name, page by page", async ({ expect }) => {
    const made: string[] = [];
    for (let i = 0; i < 5; i++) {
      made.push((await newKey({ name: `Paged ${i}`, plan: i === 0 ? "free" : "business" })).id);
    }
    await service.admin("PATCH", `/keys/${made[4]}`, { disabled: true });
    await service.admin("DELETE", `/keys/${made[3]}`);
    expect(await idsOf("/keys?search=pAGED")).toEqual(made);
    expect(await idsOf("/keys?search=paged&plan=free")).toEqual([made[0]]);
    expect(await idsOf("/keys?search=paged&status=active")).toEqual(made.slice(0, 3));
    expect(await idsOf("/keys?search=paged&status=disabled")).toEqual([made[4]]);
    expect(await idsOf("/keys?search=paged&status=revoked&plan=business")).toEqual([made[3]]);
    expect(await idsOf("/keys?search=%25")).toEqual([]);
    const first = (await service.admin("GET", "/keys?search=paged&limit=2")).body;
    expect(await idsOf(`/keys?search=paged&limit=2&after=${first.next}`)).toEqual(made.slice(2, 4));
    const second = (await service.admin("GET", `/keys?search=paged&limit=2&after=${first.next}`)).body;
    const third = (await service.admin("GET", `/keys?search=paged&limit=2&after=${second.next}`)).body;
    expect(third).toMatchObject({ keys: [{ id: made[4] }], next: null });
  });

  it("that has expired is listed as expired, cannot be rotated, and can get a later expiry", async ({
    expect,
  }) => {
    const { id } = await service.createKey({ expiresAt: 1 });
    expect(await idsOf("/keys?status=expired")).toEqual([id]);
    expect((await service.admin("POST", `/keys/${id}/rotate`)).status).toBe(409);
    const { body } = await service.admin("PATCH", `/keys/${id}`, { expiresAt: "2099-12-31T23:59:59+01:00" });
    expect(body).toMatchObject({ status: "active", expiresAt: "2099-12-31T22:59:59Z" });
  });

  it("is changed, rotated, disabled and revoked with effect on its next request", async ({ expect }) => {
    const { id, key } = await newKey();
    const limit = async (secret: string) => {
      const response = await service.call(secret, LIST);
      return response.status === 200 ? response.headers.get("X-RateLimit-Limit") : response.status;
    };
    expect(await limit(key)).toBe("300");
    await service.admin("PATCH", `/keys/${id}`, { requestsPerMinute: 20 });
    expect(await limit(key)).toBe("20");
    await service.admin("PATCH", `/keys/${id}`, { requestsPerMinute: null, plan: "free" });
    expect(await limit(key)).toBe("60");
    const rotated = (await service.admin("POST", `/keys/${id}/rotate`, { graceSeconds: 3_600 })).body.key;
    expect([await limit(key), await limit(rotated)]).toEqual(["60", "60"]);
    const last = (await service.admin("POST", `/keys/${id}/rotate`)).body.key;
    expect([await limit(key), await limit(rotated), await limit(last)]).toEqual([401, 401, "60"]);
    await service.admin("PATCH", `/keys/${id}`, { disabled: true });
    expect(await limit(last)).toBe(401);
    await service.admin("PATCH", `/keys/${id}`, { disabled: false });
    expect(await limit(last)).toBe("60");
    await service.admin("PATCH", "/plans/free", { requestsPerMinute: 61 });
    expect(await limit(last)).toBe("61");
    await service.admin("PATCH", "/plans/free", { requestsPerMinute: 60 });
    expect((await service.admin("DELETE", `/keys/${id}`)).body).toMatchObject({ effective: "immediately" });
    expect(await limit(last)).toBe(401);
    expect((await service.admin("GET", `/keys/${id}`)).body).toMatchObject({ status: "revoked" });
  });
});

describe("bans, usage, plans and the audit log", () => {
  it("show an operator ban as live and as lifted, and admit the key again", async ({ expect }) => {
    const { id, key } = await newKey();
    await service.admin("PUT", `/keys/${id}/ban`, { seconds: 60, reason: "abuse" });
    expect((await service.call(key, LIST)).status).toBe(429);
    expect((await service.admin("GET", `/bans?key=${id}&state=live`)).body.bans).toMatchObject([
      { keyId: id, keyName: "acme", cause: "operator", reason: "abuse", live: true },
    ]);
    await service.admin("DELETE", `/keys/${id}/ban`);
    expect((await service.call(key, LIST)).status).toBe(200);
    expect((await service.admin("GET", `/bans?key=${id}&state=past`)).body.bans).toMatchObject([
      { live: false, liftedBy: "operator" },
    ]);
    expect((await service.admin("GET", `/bans?key=${id}&state=live`)).body.bans).toEqual([]);
  });

  it("count the requests of today, for the key and for the day", async ({ expect }) => {
    const { id, key } = await newKey({ requestsPerMinute: 30_000, requestsPerDay: 3 });
    for (let i = 0; i < 5; i++) await service.call(key, LIST);
    const figures = { admitted: 3, refused: 2, refusedWhileBanned: 0 };
    const days = (await service.admin("GET", `/keys/${id}/usage?from=6d`)).body.rows as unknown[];
    expect(days).toHaveLength(7);
    expect(days.at(-1)).toMatchObject(figures);
    expect((await service.admin("GET", "/usage")).body.rows).toContainEqual({
      keyId: id,
      keyName: "acme",
      ownerName: null,
      ownerEmail: null,
      plan: "pro",
      limits: { requestsPerMinute: 30_000, requestsPerDay: 3 },
      percent: 100,
      ...figures,
    });
  });

  it("list the plans with their number of keys, and refuse to remove a limit that a key relies on", async ({
    expect,
  }) => {
    await newKey({ plan: "business" });
    expect((await service.admin("GET", "/plans")).body.plans).toMatchObject([
      { id: "free", requestsPerMinute: 60, requestsPerDay: 1_000 },
      { id: "pro", requestsPerMinute: 300, requestsPerDay: 10_000 },
      { id: "business", requestsPerMinute: 1_000, requestsPerDay: 100_000, keys: expect.any(Number) },
      { id: "enterprise", requestsPerMinute: null, requestsPerDay: null },
    ]);
    const { status, body } = await service.admin("PATCH", "/plans/business", { requestsPerDay: null });
    expect([status, body.code]).toEqual([409, "conflict"]);
    expect((await service.admin("PATCH", "/plans/pro", {})).status).toBe(400);
  });

  it("page through the audit log, newest first, and filter it by object", async ({ expect }) => {
    const { id } = await newKey();
    await service.admin("PATCH", `/keys/${id}`, { name: "b" });
    await service.admin("PATCH", `/keys/${id}`, { name: "c" });
    const first = (await service.admin("GET", `/audit?object=${id}&limit=2`)).body;
    expect(first.audit).toMatchObject([
      { call: "keys.update", object: id, before: { name: "b" }, after: { name: "c" } },
      { before: { name: "acme" }, after: { name: "b" } },
    ]);
    const { body } = await service.admin("GET", `/audit?object=${id}&limit=2&before=${first.next}`);
    expect(body).toMatchObject({ audit: [{ call: "keys.create", before: null }], next: null });
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
    ["GET", "/customers?days=90&sort=percent", undefined, ["days: ", "sort: "]],
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

  it("sign-ins from one address are limited to 200 in a minute, and the admin token still works", async ({
    expect,
  }) => {
    // An address of its own: the other tests of this service fail to sign in as well.
    const headers = { "CF-Connecting-IP": "203.0.113.7" };
    const statuses: number[] = [];
    await untilMinuteHas(8);
    for (let round = 0; round < 11; round++) {
      const batch = Array.from({ length: 20 }, () => service.call("wrong", "/admin/plans", { headers }));
      for (const response of await Promise.all(batch)) statuses.push(response.status);
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(MAX_FAILURES);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    const refused = await service.call("wrong", "/admin/plans", { headers });
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([429, "60"]);
    expect((await service.call(ADMIN_TOKEN, "/admin/plans", { headers })).status).toBe(200);
  });
});
