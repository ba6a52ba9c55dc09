/** Who may only read the admin API: with ADMIN_READ_TOKEN, or as ACCESS_WRITERS says. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { onlyReads, routeOf } from "../../../src/worker/admin/call.ts";
import { CALLS } from "../../../src/worker/admin/calls.ts";
import { type Claims, sign, startTeam } from "../../support/access-team.ts";
import { createKey, giveKeys, insertOrders, newOrderId } from "../../support/factories.ts";
import { log, startApp } from "../../support/worker.ts";
import { pathOf } from "./changes.ts";

const READ_TOKEN = "a-token-that-only-reads-for-the-tests";

describe("the read token", () => {
  it("gets the same answers to what only reads as the admin token", async ({ expect }) => {
    const [{ id }, orderId] = [await createKey(), newOrderId()];
    await insertOrders({ id: orderId });
    const others: Record<string, string> = { plans: "free", customers: await giveKeys("Read", id) };
    for (const app of [
      startApp({ ADMIN_READ_TOKEN: READ_TOKEN }),
      startApp({ ADMIN_READ_TOKEN: READ_TOKEN, ADMIN_TOKEN: "" }),
    ]) {
      for (const call of CALLS.filter(onlyReads)) {
        const { method } = routeOf(call);
        const [, noun = ""] = call.route.split("/");
        const path = `/admin${pathOf(call, { id: others[noun] ?? id, orderId })}${call.id === "find" ? "?text=a" : ""}`;
        const body = method === "POST" ? { body: JSON.stringify({ id }) } : {};
        const response = await app(path, { method, key: READ_TOKEN, ...body });
        expect(response.status, call.route).toBe(200);
        if (method === "GET") {
          expect((await app(path, { method: "HEAD", key: READ_TOKEN })).status, path).toBe(200);
        }
      }
    }
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
    const names = "ADMIN_READ_TOKEN";
    expect(log.lines()).toContainEqual(expect.objectContaining({ event: "setting_wrong", names }));
  });
});

describe("ACCESS_WRITERS", () => {
  it("names who of Access may change something; others only read, also beside the admin token", async ({
    expect,
  }) => {
    const team = await startTeam();
    const pair = await team.addKey("k1");
    const body = JSON.stringify({ name: "new", plan: "free" });
    const mayWrite = async (writers: string, claims: Claims, key = "") => {
      const app = startApp({ ...team.bindings, ACCESS_WRITERS: writers });
      const headers = { "Cf-Access-Jwt-Assertion": await sign(team.domain, pair, "k1", claims) };
      expect((await app("/admin/plans", { headers, key })).status).toBe(200);
      const { status } = await app("/admin/keys", { method: "POST", body, headers, key });
      return status === 403 ? false : status === 201 || status;
    };
    const [jo, program] = [{ email: "jo@example.com" }, { email: undefined, common_name: "0123abcd.access" }];
    for (const writers of ["jo@example.com", "mo@example.com, Jo@Example.com 0123abcd.access"]) {
      expect(await mayWrite(writers, jo), writers).toBe(true);
      expect(await mayWrite(writers, { email: "JO@example.com" }), writers).toBe(true);
    }
    for (const writers of [
      "jo+x@example.com",
      "jo@example.com;mo@example.com",
      "jo",
      ",",
      "",
      "0123abcd.access",
    ]) {
      expect(await mayWrite(writers, jo, env.ADMIN_TOKEN), writers).toBe(false);
    }
    expect(await mayWrite("jo@example.com", { email: "support+jo@example.com" })).toBe(false);
    // The Kelvin sign, whose small letter is k.
    expect(await mayWrite("mark@example.com", { email: "mar\u212a@example.com" })).toBe(false);
    expect([await mayWrite("0123abcd.access", program), await mayWrite("jo@example.com", program)]).toEqual([
      true,
      false,
    ]);
  });
});
