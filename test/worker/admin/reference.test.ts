/** The reference tells the truth: the service accepts each example of a body, and each answer has exactly the members of its schema. */
import * as v from "valibot";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { REFERENCE } from "../../../src/worker/admin/reference.ts";
import { createKey, insertOrders } from "../../support/factories.ts";
import { captureLog, LIST, startApp } from "../../support/worker.ts";
import { banByStrikes, operatorOf, untilStored } from "./admin-support.ts";

const app = startApp();
const operator = operatorOf(app);

beforeEach(() => {
  captureLog();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Sends the example of the route, and compares the answer with what the reference says. */
async function call(route: string, ids: Readonly<Record<string, string>> = {}, query = "") {
  const description = REFERENCE[route];
  if (description === undefined) throw new Error(`${route} is not described`);
  const [method = "", path = ""] = route.split(" ");
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? "");
  const { status, text, body, etag } = await operator(method, filled + query, description.body?.example);
  if (status !== (description.status ?? 200)) throw new Error(`${route}: ${status} ${text}`);
  const { issues = [] } = v.safeParse(description.answer, body);
  if (issues.length > 0) throw new Error(`${route}: ${JSON.stringify(v.flatten(issues as never))}\n${text}`);
  if ((etag !== null) !== (description.etag === true)) throw new Error(`${route}: ETag ${etag}`);
  called.add(route);
  return body;
}

const called = new Set<string>();

describe("the reference", () => {
  it("describes the answers about keys, bans and the audit log", async ({ expect }) => {
    const { id } = await call("POST /keys");
    await call("POST /keys/find");
    await call("GET /keys/:id", { id });
    await call("PATCH /keys/:id", { id });
    await call("PUT /keys/:id/ban", { id });
    await call("PUT /keys/:id/ban", { id });
    await call("GET /keys", {}, "?limit=1");
    await call("GET /bans", {}, "?limit=1");
    await call("DELETE /keys/:id/ban", { id });
    await call("DELETE /keys/:id/ban", { id });
    const rotated = await call("POST /keys/:id/rotate", { id });
    const [{ id: secretId } = { id: "" }] = v.parse(v.array(v.object({ id: v.string() })), rotated.secrets);
    await call("DELETE /keys/:id/secrets/:secretId", { id, secretId });
    await call("GET /keys/:id/usage", { id });
    await call("DELETE /keys/:id", { id });
    await call("GET /keys/:id/history", { id }, "?limit=2");
    await call("GET /audit", {}, "?limit=1");
    await call("GET /usage");
    expect(called).toContain("GET /usage");
  });

  it("describes a key that is in use, was refused and is banned", async () => {
    const key = await createKey({ perMinute: 1, perDay: 100 });
    await banByStrikes(key, app, 2_300_000_000_000);
    await untilStored("select 1 from bans where key_id = ?", key.id);
    await call("GET /keys/:id", key);
    await call("GET /keys/:id/history", key);
    await call("GET /bans", {}, "?state=live");
    await call("GET /keys", {}, "?status=banned");
  });

  it("describes the answers about plans and orders", async () => {
    await call("GET /plans");
    await call("PATCH /plans/:id", { id: "pro" });
    await call("GET /plans/:id", { id: "enterprise" });
    await call("PUT /orders");
    await call("GET /orders", {}, "?limit=1");
    await call("GET /orders/:orderId", { orderId: "1" });
    await call("PATCH /orders/:orderId", { orderId: "1" });
    await call("DELETE /orders/:orderId", { orderId: "1" });
    await insertOrders({ id: "2" });
    await app(`${LIST}/2`, { method: "DELETE", key: (await createKey()).key });
    await call("GET /orders/cancelled");
  });

  it("was compared in each of its routes with an answer of the service", ({ expect }) => {
    const others = Object.keys(REFERENCE).filter((route) => !called.has(route));
    expect(others).toEqual(["GET /openapi.json"]);
  });
});
