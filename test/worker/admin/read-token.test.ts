/** Who may only read the admin API: with ADMIN_READ_TOKEN, or by an e-mail of Cloudflare Access. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { onlyReads, routeOf } from "../../../src/worker/admin/call.ts";
import { CALLS } from "../../../src/worker/admin/calls.ts";
import { sign, startTeam } from "../../support/access-team.ts";
import { createKey, insertOrders, newOrderId } from "../../support/factories.ts";
import { captureLog, startApp } from "../../support/worker.ts";
import { pathOf } from "./changes.ts";

const READ_TOKEN = "a-token-that-only-reads-for-the-tests";

let log: ReturnType<typeof captureLog>;
beforeEach(() => {
  log = captureLog();
});
afterEach(() => {
  vi.restoreAllMocks();
});

describe("the read token", () => {
  it("gets the same answers to what only reads as the admin token", async ({ expect }) => {
    const [{ id }, orderId] = [await createKey(), newOrderId()];
    await insertOrders({ id: orderId });
    for (const app of [
      startApp({ ADMIN_READ_TOKEN: READ_TOKEN }),
      startApp({ ADMIN_READ_TOKEN: READ_TOKEN, ADMIN_TOKEN: "" }),
    ]) {
      for (const call of CALLS.filter(onlyReads)) {
        const { method } = routeOf(call);
        const path = `/admin${pathOf(call, { id: call.route.startsWith("GET /plans") ? "free" : id, orderId })}`;
        const body = method === "POST" ? { body: JSON.stringify({ id }) } : {};
        const response = await app(path, { method, key: READ_TOKEN, ...body });
        expect(response.status, call.route).toBe(200);
        if (method === "GET") {
          expect((await app(path, { method: "HEAD", key: READ_TOKEN })).status, path).toBe(200);
        }
      }
    }
  });

  it("gets a 403 to what does not exist, unless the method only reads", async ({ expect }) => {
    const app = startApp({ ADMIN_READ_TOKEN: READ_TOKEN });
    for (const [method, path] of [
      ["POST", "/admin/keys/find/"],
      ["POST", "/admin/keys/key_none"],
      ["OPTIONS", "/admin/keys"],
      ["POST", "/admin/nothing"],
    ] as const)
      expect((await app(path, { method, key: READ_TOKEN })).status, `${method} ${path}`).toBe(403);
  });

  it("leaves the admin token as it is", async ({ expect }) => {
    const app = startApp({ ADMIN_READ_TOKEN: READ_TOKEN });
    const body = JSON.stringify({ name: "new", plan: "free" });
    expect((await app("/admin/keys", { method: "POST", key: env.ADMIN_TOKEN, body })).status).toBe(201);
    expect((await app("/admin/plans", { key: `${READ_TOKEN}x` })).status).toBe(401);
    expect((await startApp()("/admin/plans", { key: READ_TOKEN })).status).toBe(401);
  });

  it("only reads if the admin token is the same by mistake", async ({ expect }) => {
    const app = startApp({ ADMIN_READ_TOKEN: env.ADMIN_TOKEN });
    expect((await app("/admin/plans", { key: env.ADMIN_TOKEN })).status).toBe(200);
    expect((await app("/admin/keys", { method: "POST", key: env.ADMIN_TOKEN })).status).toBe(403);
  });

  it("opens nothing if it is too short, and the log says which token is", async ({ expect }) => {
    const app = startApp({ ADMIN_READ_TOKEN: "short" });
    expect((await app("/admin/plans", { key: "short" })).status).toBe(401);
    expect((await app("/admin/plans", { key: env.ADMIN_TOKEN })).status).toBe(200);
    const error = expect.objectContaining({
      message: "ADMIN_READ_TOKEN needs 32 characters or more, and no blanks",
    });
    expect(log.lines()).toContainEqual(expect.objectContaining({ event: "admin_token_unusable", error }));
  });

  it("is not stored, wherever an operator puts it", async ({ expect }) => {
    const app = startApp({ ADMIN_READ_TOKEN: READ_TOKEN });
    const create = (name: string) =>
      app("/admin/keys", {
        method: "POST",
        key: env.ADMIN_TOKEN,
        headers: { "X-Operator": READ_TOKEN },
        body: JSON.stringify({ name, plan: "free" }),
      });
    expect((await create(`token: ${READ_TOKEN}.`)).status).toBe(400);
    expect((await app(`/admin/keys?search=${READ_TOKEN}`, { key: READ_TOKEN })).status).toBe(400);
    expect((await create("named")).status).toBe(201);
    const actor = await env.DB.prepare("select actor from audit_log order by id desc limit 1").first("actor");
    expect(actor).toBe("operator");
    expect(log.text()).not.toContain(READ_TOKEN);
  });
});

describe("a person of Cloudflare Access whose e-mail is listed", () => {
  it("may only read, also beside the admin token; others may change", async ({ expect }) => {
    const team = await startTeam();
    const pair = await team.addKey("k1");
    const app = startApp({ ...team.bindings, ACCESS_READ_ONLY_EMAILS: "jo@example.com, Ann@Example.com" });
    const statusesFor = async (email: string, key = "") => {
      const headers = { "Cf-Access-Jwt-Assertion": await sign(team.domain, pair, "k1", { email }) };
      const body = JSON.stringify({ name: "new", plan: "free" });
      const change = await app("/admin/keys", { method: "POST", body, headers, key });
      return [(await app("/admin/plans", { headers, key })).status, change.status];
    };
    expect(await statusesFor("jo@example.com")).toEqual([200, 403]);
    expect(await statusesFor("ann@example.com", env.ADMIN_TOKEN)).toEqual([200, 403]);
    expect(await statusesFor("JO@example.com")).toEqual([200, 403]);
    expect(await statusesFor("mo@example.com")).toEqual([200, 201]);
    expect(await statusesFor("o@example.com")).toEqual([200, 201]);
  });
});
