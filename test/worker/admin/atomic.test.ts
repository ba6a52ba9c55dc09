/** A change and its audit row are one transaction: if the row cannot be written, nothing is changed. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { createKey, insertOrders } from "../../support/factories.ts";
import { captureLog, startApp, watchDatabase } from "../../support/worker.ts";
import { everythingStored, operatorOf } from "./admin-support.ts";

const operator = operatorOf(startApp());

let log: ReturnType<typeof captureLog>;
beforeEach(() => {
  log = captureLog();
});
afterEach(() => {
  vi.restoreAllMocks();
});

async function withoutAudit(body: () => Promise<void>): Promise<void> {
  await env.DB.prepare(
    "create trigger no_audit before insert on audit_log begin select raise(abort, 'no audit'); end",
  ).run();
  try {
    await body();
  } finally {
    await env.DB.exec("drop trigger no_audit");
  }
}

async function key(): Promise<string> {
  return (await createKey()).id;
}

async function bannedKey(): Promise<string> {
  const id = await key();
  await operator("PUT", `/keys/${id}/ban`, { seconds: 60, reason: "before" });
  return id;
}

async function limitedKey(): Promise<string> {
  const id = await key();
  const limits = { requestsPerDay: 5, days: 2 };
  await operator("POST", `/keys/${id}/temporary-limits`, limits);
  return id;
}

async function order(): Promise<string> {
  const id = String(Math.floor(Math.random() * 1e15));
  await insertOrders({ id });
  return id;
}

type Change = {
  call: string;
  /** Makes the object to change, and returns its id. */
  object: () => Promise<string>;
  request: (object: string) => [method: string, path: string, body?: unknown];
};

const changes: Change[] = [
  {
    call: "keys.create",
    object: async () => "",
    request: () => ["POST", "/keys", { name: "new", plan: "free" }],
  },
  {
    call: "keys.update",
    object: key,
    request: (id) => ["PATCH", `/keys/${id}`, { name: "changed", plan: "pro", disabled: true }],
  },
  { call: "keys.rotate", object: key, request: (id) => ["POST", `/keys/${id}/rotate`, {}] },
  {
    call: "keys.limit_temporarily",
    object: key,
    request: (id) => ["POST", `/keys/${id}/temporary-limits`, { requestsPerDay: 7, days: 2 }],
  },
  {
    call: "keys.end_temporary_limits",
    object: limitedKey,
    request: (id) => ["DELETE", `/keys/${id}/temporary-limits`],
  },
  { call: "keys.tell", object: key, request: (id) => ["POST", `/keys/${id}/tell`] },
  { call: "keys.revoke", object: key, request: (id) => ["DELETE", `/keys/${id}`] },
  {
    call: "bans.set",
    object: bannedKey,
    request: (id) => ["PUT", `/keys/${id}/ban`, { seconds: 600, reason: "after" }],
  },
  { call: "bans.lift", object: bannedKey, request: (id) => ["DELETE", `/keys/${id}/ban`] },
  {
    call: "plans.update",
    object: async () => "pro",
    request: (id) => ["PATCH", `/plans/${id}`, { requestsPerMinute: 301 }],
  },
  {
    call: "orders.update",
    object: order,
    request: (id) => ["PATCH", `/orders/${id}`, { status: "shipped", quantity: 5 }],
  },
  { call: "orders.delete", object: order, request: (id) => ["DELETE", `/orders/${id}`] },
  {
    call: "orders.load",
    object: async () => "orders",
    request: () => ["PUT", "/orders", [{ id: Math.floor(Math.random() * 1e15) }]],
  },
];

describe("a change whose audit row cannot be written", () => {
  for (const { call, object, request } of changes) {
    it(`changes nothing: ${call}`, async ({ expect }) => {
      const [method, path, body] = request(await object());
      const before = await everythingStored();
      await withoutAudit(async () => {
        expect(await operator(method, path, body)).toMatchObject({ status: 500 });
        expect(await everythingStored()).toEqual(before);
      });
      expect(log.text()).toContain("no audit");
    });
  }
});

describe("a change that is written after another one", () => {
  /** Runs the statement after the service has read the object, and before it writes its batch. */
  function operatorAfter(statement: string) {
    const DB = {
      prepare: (query: string) => env.DB.prepare(query),
      batch: async (statements: D1PreparedStatement[]) => {
        await env.DB.exec(statement);
        return env.DB.batch(statements);
      },
    };
    // The app uses these two members only.
    return operatorOf(startApp({ DB: DB as unknown as D1Database }));
  }

  for (const { call, request } of changes.filter(
    ({ call }) => /update|rotate|revoke|limit_temporarily/.test(call) && /keys/.test(call),
  )) {
    it(`leaves a revoked key and its secrets as they are, without an audit row: ${call}`, async ({
      expect,
    }) => {
      const id = await key();
      const late = operatorAfter(`update api_keys set status = 'revoked' where id = '${id}'`);
      expect((await late(...request(id))).status).toBe(call === "keys.revoke" ? 200 : 409);
      expect((await operator("GET", `/keys/${id}`)).body).toMatchObject({
        status: "revoked",
        name: "test",
        secrets: [{ expiresAt: null }],
      });
      expect((await operator("GET", `/audit?object=${id}`)).body.audit).toEqual([]);
    });
  }

  it("leaves a cancelled order cancelled, without an audit row: orders.update", async ({ expect }) => {
    const id = await order();
    const late = operatorAfter(`delete from orders where id = ${id}`);
    expect((await late("PATCH", `/orders/${id}`, { status: "shipped" })).status).toBe(404);
    expect((await operator("GET", `/orders/${id}`)).status).toBe(404);
    expect((await operator("GET", `/audit?object=${id}`)).body.audit).toEqual([]);
  });
});

describe("a change", () => {
  for (const { call, object, request } of changes) {
    it(`has one audit row with its request, actor and object: ${call}`, async ({ expect }) => {
      const about = await object();
      const [method, path, body] = request(about);
      const rowsBefore = (await everythingStored()).audit_log?.length ?? 0;
      const { status, body: answer } = await operator(method, path, body);
      expect(status).toBeLessThan(300);
      const rows = (await everythingStored()).audit_log ?? [];
      expect(rows).toHaveLength(rowsBefore + 1);
      const requestId = log.lines().findLast((line) => line.event === "request")?.requestId;
      expect(rows.at(-1)).toMatchObject({
        call,
        object: about === "" ? answer.id : about,
        actor: "mo",
        request_id: requestId,
      });
    });
  }

  it("has the changed fields before and after in its audit row", async ({ expect }) => {
    const id = await key();
    await operator("PATCH", `/keys/${id}`, { name: "acme", requestsPerMinute: 5, disabled: true });
    await operator("PATCH", `/keys/${id}`, { requestsPerMinute: null, disabled: false });
    const { body } = await operator("GET", `/audit?object=${id}`);
    expect(body.audit).toMatchObject([
      {
        before: { requestsPerMinute: 5, status: "disabled" },
        after: { requestsPerMinute: null, status: "active" },
      },
      {
        before: { name: "test", requestsPerMinute: null, status: "active" },
        after: { name: "acme", requestsPerMinute: 5, status: "disabled" },
      },
    ]);
  });

  it("has the replaced or lifted ban in its audit row", async ({ expect }) => {
    const id = await bannedKey();
    await operator("PUT", `/keys/${id}/ban`, { seconds: 600, reason: "after" });
    await operator("DELETE", `/keys/${id}/ban`);
    const { body } = await operator("GET", `/audit?object=${id}`);
    expect(body.audit).toMatchObject([
      { call: "bans.lift", before: { reason: "after" }, after: null },
      { call: "bans.set", before: { reason: "before" }, after: { reason: "after" } },
      { call: "bans.set", before: null, after: { reason: "before" } },
    ]);
  });
});

describe("a change that is stored, and whose answer is lost", () => {
  it("is said to be possible", async ({ expect }) => {
    const { id } = await createKey();
    const batch = async (statements: D1PreparedStatement[]) => {
      await env.DB.batch(statements);
      throw new Error("D1_ERROR: Network connection lost.");
    };
    // The app uses these two members only.
    const DB = { prepare: (query: string) => env.DB.prepare(query), batch } as unknown as D1Database;
    const losing = operatorOf(startApp({ DB }));
    const message =
      "The database cannot be reached. If this was a change, it may have been made: look, then try again.";
    expect(await losing("DELETE", `/keys/${id}`)).toMatchObject({ status: 503, body: { message } });
    expect((await operator("GET", `/keys/${id}`)).body).toMatchObject({ status: "revoked" });
  });

  it("is logged once, with the cause of the outage", async ({ expect }) => {
    const { DB, failWith } = watchDatabase();
    failWith("D1_ERROR: Network connection lost.");
    await operatorOf(startApp({ DB }))("PATCH", "/plans/pro", { requestsPerMinute: 301 });
    const failed = log.lines().filter(({ event }) => event === "request_failed");
    expect(failed).toHaveLength(1);
    expect(JSON.stringify(failed)).toContain("Network connection lost.");
  });
});
