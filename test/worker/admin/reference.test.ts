/** The reference tells the truth: each answer has the members of its schema. Changes: changes.test.ts. */
import * as v from "valibot";
import { afterAll, describe, it, vi } from "vitest";
import { hasEtag, onlyReads } from "../../../src/worker/admin/call.ts";
import { CALLS } from "../../../src/worker/admin/calls.ts";
import { createKey, insertOrders } from "../../support/factories.ts";
import { LIST, startApp } from "../../support/worker.ts";
import { banByStrikes, operatorOf, untilStored } from "./admin-support.ts";

const app = startApp();
const operator = operatorOf(app);

/** Sends the example of the route, and compares the answer with what the reference says. */
async function call(route: string, ids: Readonly<Record<string, string>> = {}, query = "", as = operator) {
  const declared = CALLS.find((each) => each.route === route);
  if (declared === undefined) throw new Error(`${route} is not declared`);
  const [method = "", path = ""] = route.split(" ");
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? "");
  const { status, text, body, etag } = await as(method, filled + query, declared.example);
  if (status !== 200) throw new Error(`${route}: ${status} ${text}`);
  const { issues = [] } = v.safeParse(declared.answer, body);
  if (issues.length > 0) throw new Error(`${route}: ${JSON.stringify(v.flatten(issues as never))}\n${text}`);
  if ((etag !== null) !== hasEtag(declared)) throw new Error(`${route}: ETag ${etag}`);
  called.add(route);
  return body;
}

const called = new Set<string>();

afterAll(() => {
  const others = CALLS.filter((each) => onlyReads(each) && each.media === undefined).flatMap(({ route }) =>
    called.has(route) ? [] : [route],
  );
  if (others.join() !== "GET /openapi.json")
    throw new Error(`not compared with an answer: ${others.join(", ")}`);
});

describe("the reference", () => {
  it("describes the answers about keys, bans and the audit log", async () => {
    const { id } = await createKey();
    await operator("PUT", `/keys/${id}/ban`, { seconds: 60, reason: "a test" });
    await call("GET /keys/:id", { id });
    await call("GET /keys", {}, "?limit=1");
    await call("GET /bans", {}, "?limit=1");
    await operator("POST", `/keys/${id}/temporary-limits`, { requestsPerDay: 5, days: 1 });
    await call("GET /keys/:id", { id });
    await operator("PATCH", `/keys/${id}`, { customer: "Pet Shop" });
    await operator("POST", "/links", { customer: "Pet Shop", days: 7 });
    await call("GET /links");
    await call("GET /sessions");
    await call("GET /customers", {}, "?limit=1");
    await call("GET /customers/:id", { id: "Pet Shop" });
    await call("GET /customers/:id/day", { id: "Pet Shop" });
    await call("GET /customers/:id/report", { id: "Pet Shop" });
    await call("GET /audit", {}, "?limit=1");
  });

  it("describes the answers about usage", async () => {
    const key = await createKey({ perMinute: 1 });
    await app(LIST, key);
    await app(LIST, key);
    for (const by of ["hour", "day"]) await call("GET /keys/:id/usage", key, `?by=${by}`);
    for (const by of ["hour", "day", "key"]) await call("GET /usage", {}, `?by=${by}&limit=1`);
    await call("GET /usage/near");
    await call("GET /keys/:id/day", key, "?at=today");
  });

  it("describes the answers about alerts", async () => {
    vi.spyOn(globalThis, "fetch").mockResolvedValue(new Response(null, { status: 204 }));
    const webhook = {
      ALERT_WEBHOOK_URL: "https://hooks.example/alerts",
      ALERT_WEBHOOK_SECRET: `whsec_${btoa("a secret of the webhook, for tests")}`,
    };
    const withWebhook = operatorOf(startApp(webhook));
    const { id } = await createKey();
    await withWebhook("PUT", `/keys/${id}/ban`, { seconds: 60, reason: "a test" });
    await untilStored("select 1 from alerts where key_id = ?", id);
    await call("GET /alerts", {}, "?limit=1", withWebhook);
    await call("POST /alerts/test", {}, "", withWebhook);
  });

  it("describes a key that is in use, was refused and is banned", async () => {
    const key = await createKey({ perMinute: 1, perDay: 100 });
    await banByStrikes(key, app, 2_300_000_000_000);
    await untilStored("select 1 from bans where key_id = ?", key.id);
    await call("GET /keys/:id", key);
    await call("GET /keys/:id/usage", key, "?by=hour");
    await call("GET /bans", {}, "?state=live");
    await call("GET /keys", {}, "?status=banned");
  });

  it("describes the answers about plans and orders", async () => {
    await call("GET /plans");
    await call("GET /plans/:id", { id: "enterprise" });
    await insertOrders({ id: "1" }, { id: "2" });
    await call("GET /orders", {}, "?limit=1");
    await call("GET /orders/:orderId", { orderId: "1" });
    await app(`${LIST}/2`, { method: "DELETE", key: (await createKey()).key });
    await call("GET /orders/cancelled");
    await call("GET /find", {}, "?text=1");
    await call("GET /health");
  });
});
