/** `Idempotency-Key`: a browser sends a call again if its connection ends before an answer. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, it, vi } from "vitest";
import { newOrderId } from "../../support/factories.ts";
import { captureLog, setClock, startApp, watchDatabase } from "../../support/worker.ts";

beforeEach(() => void captureLog());

const app = startApp();

const newKey = () => crypto.randomUUID().replaceAll("-", "");

async function call(key: string, method: string, path: string, body: unknown = {}, to = app) {
  const init = {
    method,
    key: env.ADMIN_TOKEN,
    body: body instanceof ReadableStream ? body : JSON.stringify(body),
  };
  const response = await to(`/admin${path}`, { ...init, headers: { "Idempotency-Key": key } });
  const headers = ["Retry-After", "Link"].filter((name) => response.headers.has(name));
  return { status: response.status, body: await response.json<Record<string, unknown>>(), headers };
}

async function read(path: string): Promise<Record<string, unknown>> {
  const response = await app(`/admin${path}`, { key: env.ADMIN_TOKEN });
  return response.json();
}

async function createKey(name: string): Promise<string> {
  const { body } = await call(newKey(), "POST", "/keys", { name, plan: "pro" });
  return String(body.id);
}

const REPEATED = {
  status: 409,
  body: {
    code: "repeated_call",
    message: "The change was made by an earlier sending of this call, whose answer was lost.",
    status: 409,
  },
  headers: [],
};

describe("a call with the Idempotency-Key of an earlier one", () => {
  it("makes no second key, however many are sent at once", async ({ expect }) => {
    const key = newKey();
    const sent = Array.from({ length: 8 }, () =>
      call(key, "POST", "/keys", { name: "sent often", plan: "pro" }),
    );
    const answers = await Promise.all(sent);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status !== 201)).toEqual(Array.from({ length: 7 }, () => REPEATED));
    expect((await read("/keys?search=sent+often")).keys).toHaveLength(1);
  });

  it("changes nothing, whatever the change, and writes no audit row", async ({ expect }) => {
    const id = await createKey("changed once");
    const orderId = Number(newOrderId());
    await call(newKey(), "POST", "/orders", { id: orderId });
    const changes: [method: string, path: string, body?: object][] = [
      ["PATCH", `/keys/${id}`, { name: "renamed" }],
      ["POST", `/keys/${id}/rotate`, { graceSeconds: 600 }],
      ["PUT", `/keys/${id}/ban`, { seconds: 600, reason: "test" }],
      ["PATCH", `/orders/${orderId}`, { status: "shipped" }],
      ["DELETE", `/orders/${orderId}`],
      ["PATCH", "/plans/pro", { requestsPerMinute: 301 }],
    ];
    for (const [method, path, body] of changes) {
      const key = newKey();
      expect(await call(key, method, path, body), `${method} ${path}`).toMatchObject({ status: 200 });
      const before = await Promise.all([read(`/keys/${id}`), read("/audit?limit=20"), read("/plans")]);
      expect(await call(key, method, path, body), `${method} ${path} again`).toEqual(REPEATED);
      expect(await Promise.all([read(`/keys/${id}`), read("/audit?limit=20"), read("/plans")])).toEqual(
        before,
      );
    }
  });

  it("lifts no ban that was set since", async ({ expect }) => {
    const id = await createKey("banned twice");
    const [key, ban] = [newKey(), { seconds: 600, reason: "test" }];
    await call(newKey(), "PUT", `/keys/${id}/ban`, ban);
    expect(await call(key, "DELETE", `/keys/${id}/ban`)).toMatchObject({ status: 200 });
    await call(newKey(), "PUT", `/keys/${id}/ban`, ban);
    expect(await call(key, "DELETE", `/keys/${id}/ban`)).toEqual(REPEATED);
    expect((await read(`/bans?key=${id}&state=live`)).bans).toHaveLength(1);
  });

  it("is not called invalid or cut off if the earlier one was neither", async ({ expect }) => {
    const id = await createKey("expires soon");
    const [key, path, change] = [newKey(), `/keys/${id}`, { expiresAt: "2037-01-01T12:00:00Z" }];
    expect(await call(key, "PATCH", path, change)).toMatchObject({ status: 200 });
    const cutOff = () =>
      new ReadableStream({ pull: () => Promise.reject(new Error("Network connection lost.")) });
    expect(await call(key, "PATCH", path, cutOff())).toEqual(REPEATED);
    expect(await call(newKey(), "PATCH", path, cutOff())).toMatchObject({ status: 408 });
    setClock(Date.parse(change.expiresAt));
    const again = await call(key, "PATCH", path, change);
    const another = await call(newKey(), "PATCH", path, change);
    vi.useRealTimers();
    expect(again).toEqual(REPEATED);
    expect(another).toMatchObject({ status: 400 });
  });

  it("is a 503 without the refusal's headers if D1 does not answer whether it was made", async ({
    expect,
  }) => {
    const database = watchDatabase();
    database.failWith("D1_ERROR: Network connection lost.", /idempotency_key/);
    const answer = await call(newKey(), "DELETE", "/unknown", {}, startApp({ DB: database.DB }));
    expect(answer).toMatchObject({ status: 503, headers: ["Retry-After"] });
  });

  it("is refused as without it if the earlier one was refused, and made if that failed", async ({
    expect,
  }) => {
    const id = await createKey("refused");
    const key = newKey();
    const only = `/keys/${id}/secrets/${((await read(`/keys/${id}`)) as { secrets: [{ id: string }] }).secrets[0].id}`; // the documented shape
    expect(await call(key, "DELETE", only)).toMatchObject({ body: { code: "conflict" } });
    expect(await call(key, "DELETE", only)).toMatchObject({ body: { code: "conflict" } });
    expect(await call(key, "PATCH", "/keys/key_none", { name: "x" })).toMatchObject({ status: 404 });
    expect(await call(key, "PATCH", `/keys/${id}`, { name: "y" })).toMatchObject({ status: 200 });
  });

  it("is not what a call is whose own answer of D1 was lost", async ({ expect }) => {
    const id = await createKey("stored");
    const batch = async (statements: D1PreparedStatement[]) => {
      await env.DB.batch(statements);
      throw new Error("D1_ERROR: Network connection lost.");
    };
    // The app uses these two members only.
    const DB = { prepare: (query: string) => env.DB.prepare(query), batch } as unknown as D1Database;
    const key = newKey();
    const lost = await call(key, "PATCH", `/keys/${id}`, { name: "x" }, startApp({ DB }));
    expect(lost).toMatchObject({ status: 503, body: { code: "service_unavailable" } });
    expect(await call(key, "PATCH", `/keys/${id}`, { name: "x" })).toEqual(REPEATED);
  });

  it("is carried out again as an import, whose id says what is stored", async ({ expect }) => {
    const key = newKey();
    const path = `/orders?import=imp_${newKey()}`;
    const order = { id: Number(newOrderId()) };
    expect(await call(key, "POST", path, order)).toMatchObject({
      status: 200,
      body: { inserted: 1, refused: [] },
    });
    expect(await call(key, "POST", path, order)).toMatchObject({ status: 200 });
    expect(await call(key, "DELETE", `/orders/${order.id}`)).toMatchObject({ status: 200 });
  });
});

describe("an Idempotency-Key", () => {
  it("must be random hex digits, and is not the admin token", async ({ expect }) => {
    for (const key of ["x", "", "A".repeat(32), `${newKey()}0`, env.ADMIN_TOKEN]) {
      const { status, body } = await call(key, "POST", "/keys", { name: "x", plan: "pro" });
      expect([status, body.message], key).toEqual([
        400,
        "Idempotency-Key must be 32 random hex digits in lower case.",
      ]);
    }
  });

  it("is what makes a call a repeated one, not a text that names the trigger", async ({ expect }) => {
    const name = "audit_log_repeated_call";
    const read = await app(`/admin/keys?${name}=1`, { key: env.ADMIN_TOKEN });
    expect(read.status).toBe(400);
    const { status } = await call(newKey(), "POST", "/keys", { name: "x", plan: "pro", [name]: 1 });
    expect(status).toBe(400);
    const prepare = vi.spyOn(env.DB, "prepare").mockImplementation(() => {
      throw new Error("D1_ERROR: Network connection lost.");
    });
    const outage = await app(`/admin/keys?search=${name}`, { key: env.ADMIN_TOKEN });
    expect(outage.status).toBe(503);
    prepare.mockRestore();
  });

  it("is not shown in the audit log", async ({ expect }) => {
    const key = newKey();
    const { body } = await call(key, "POST", "/keys", { name: "audited", plan: "pro" });
    const audited = JSON.stringify(await read(`/audit?object=${String(body.id)}`));
    expect(audited).toContain("keys.create");
    expect(audited).not.toContain(key);
    expect(audited).not.toContain("dempotency");
  });

  it("keeps its audit entry, also from INSERT OR REPLACE", async ({ expect }) => {
    const key = newKey();
    await call(key, "POST", "/keys", { name: "kept", plan: "pro" });
    const insert = env.DB.prepare(
      "insert or replace into audit_log (at, request_id, actor, call, object, idempotency_key) values (1, 'r', 'x', 'keys.create', 'key_x', ?)",
    );
    await expect(insert.bind(key).run()).rejects.toThrow("audit_log_repeated_call");
  });
});
