/** A plan that a key gets at a midnight: in force to the millisecond, whenever the cron makes the change. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import worker from "../../../src/worker/index.ts";
import { createKey } from "../../support/factories.ts";
import { LIST, setClock, startApp, startEachTestAt } from "../../support/worker.ts";
import { browserWith, formOn } from "../console/browser.ts";
import { operatorOf } from "./admin-support.ts";

const T0 = Date.UTC(2035, 0, 1, 12);
const FROM = "2035-01-02T00:00:00Z";
const FROM_MS = Date.parse(FROM);
const planFrom = "2035-01-02";

startEachTestAt(T0);

const app = startApp();
const operator = operatorOf(app);

const change = (id: string, body: object) => operator("PATCH", `/keys/${id}`, body);
const plan = (id: string, next = "business") => change(id, { plan: next, planFrom });
const shown = async (id: string) => (await operator("GET", `/keys/${id}`)).body;
const perMinute = async (key: string) => (await app(LIST, { key })).headers.get("X-RateLimit-Limit");
const hourlyCron = () =>
  worker.scheduled({ scheduledTime: 0, cron: "23 * * * *", noRetry: () => undefined }, env);
const lastEntry = async (id: string) =>
  ((await operator("GET", `/audit?object=${id}&limit=1`)).body.audit as Record<string, unknown>[])[0];
const undo = async (id: string) => operator("POST", `/audit/${(await lastEntry(id))?.id}/undo`, {});

describe("a plan from a day on", () => {
  it("is in force at its midnight, also before the cron, and the day's use is of it", async ({ expect }) => {
    const { id, key } = await createKey({ plan: "free" });
    expect(await perMinute(key)).toBe("60");
    const { body } = await plan(id);
    expect(body).toMatchObject({
      effective: "immediately",
      plan: "free",
      nextPlan: { plan: "business", from: FROM },
      limits: { requestsPerMinute: 60 },
    });
    expect(await perMinute(key)).toBe("60");
    setClock(FROM_MS - 1);
    expect(await perMinute(key)).toBe("60");
    setClock(FROM_MS);
    expect(await perMinute(key)).toBe("1000");
    const due = { plan: "free", nextPlan: { from: FROM }, limits: { requestsPerMinute: 1_000 } };
    expect(await shown(id)).toMatchObject(due);
    const { results } = await env.DB.prepare("select plan from usage where key_id = ? order by day")
      .bind(id)
      .all();
    expect(results).toEqual([{ plan: "free" }, { plan: "business" }]);
    await hourlyCron();
    expect(await shown(id)).toMatchObject({ plan: "business", nextPlan: null });
    expect(await perMinute(key)).toBe("1000");
    const made = { actor: "cron", before: { plan: "free" }, after: { plan: "business" } };
    expect(await lastEntry(id)).toMatchObject(made);
    expect((await undo(id)).status).toBe(200);
    expect(await shown(id)).toMatchObject({
      plan: "free",
      nextPlan: null,
      limits: { requestsPerMinute: 60 },
    });
  });

  it("is read by a limiter that begins after its midnight, below limits of the key's own", async ({
    expect,
  }) => {
    const [one, own] = [await createKey({ plan: "free" }), await createKey({ plan: "free", perMinute: 7 })];
    for (const { id } of [one, own]) await plan(id);
    setClock(FROM_MS + 1_000);
    expect([await perMinute(one.key), await perMinute(own.key)]).toEqual(["1000", "7"]);
  });

  it("is taken back by a change of now or an undo, and comes back by an undo", async ({ expect }) => {
    const { id, key } = await createKey({ plan: "free" });
    await plan(id);
    expect((await change(id, { plan: "free" })).body).toMatchObject({ plan: "free", nextPlan: null });
    await undo(id);
    expect(await shown(id)).toMatchObject({ nextPlan: { plan: "business", from: FROM } });
    expect((await change(id, { plan: "pro" })).body).toMatchObject({ plan: "pro", nextPlan: null });
    await plan(id);
    await undo(id);
    setClock(FROM_MS);
    expect(await perMinute(key)).toBe("300");
    await hourlyCron();
    expect(await shown(id)).toMatchObject({ plan: "pro", nextPlan: null });
  });

  it("and temporary limits exclude each other", async ({ expect }) => {
    const { id } = await createKey({ plan: "free" });
    const limit = () => operator("POST", `/keys/${id}/temporary-limits`, { requestsPerMinute: 100, days: 3 });
    await plan(id);
    expect((await limit()).status).toBe(409);
    await change(id, { plan: "free" });
    await limit();
    expect((await plan(id)).status).toBe(409);
    const { body } = await operator("POST", "/keys/plan", { ids: [id], plan: "pro", planFrom });
    expect(body).toMatchObject({ changed: [], unchanged: [{ id }] });
  });

  it("of several keys says the limits then, and what is due is made before another one", async ({
    expect,
  }) => {
    const { id, key } = await createKey({ plan: "free" });
    const body = { ids: [id], plan: "business", planFrom };
    const { body: then } = await operator("POST", "/keys/plan?dry-run=true", body);
    expect(then).toMatchObject({ changed: [{ was: "free", limits: { requestsPerMinute: 1_000 } }] });
    expect(await shown(id)).toMatchObject({ nextPlan: null });
    await operator("POST", "/keys/plan", body);
    expect((await operator("POST", "/keys/plan", body)).body).toMatchObject({ changed: [] });
    setClock(FROM_MS + 60_000);
    await operator("POST", "/keys/plan", { ids: [id], plan: "pro", planFrom: "2035-02-01" });
    expect(await shown(id)).toMatchObject({ plan: "business", nextPlan: { plan: "pro" } });
    expect(await perMinute(key)).toBe("1000");
  });

  it("needs limits then, and follows the limits of its plan", async ({ expect }) => {
    const [bare, own] = [await createKey({ plan: "free" }), await createKey({ plan: "free" })];
    expect((await plan(bare.id, "enterprise")).status).toBe(409);
    await change(own.id, { requestsPerMinute: 5, requestsPerDay: 50 });
    expect((await plan(own.id, "enterprise")).status).toBe(200);
    expect((await change(own.id, { requestsPerDay: null })).status).toBe(409);
    await perMinute(bare.key);
    await plan(bare.id, "pro");
    expect((await operator("PATCH", "/plans/pro", { requestsPerMinute: null })).status).toBe(409);
    const { body } = await operator("PATCH", "/plans/pro", { requestsPerMinute: 333 });
    expect(body.effective).toBe("immediately");
    setClock(FROM_MS);
    expect(await perMinute(bare.key)).toBe("333");
    await operator("PATCH", "/plans/pro", { requestsPerMinute: 300 });
  });

  it("is no plan of a revoked key, nor one of a day that is not to come", async ({ expect }) => {
    const { id } = await createKey({ plan: "free" });
    for (const day of ["2035-01-01", "2035-01-02T10:00:00Z", "yesterday"])
      expect((await change(id, { plan: "pro", planFrom: day })).status).toBe(400);
    expect((await change(id, { planFrom })).status).toBe(400);
    expect((await plan(id, "free")).status).toBe(409);
    await plan(id);
    await operator("DELETE", `/keys/${id}`);
    expect(await shown(id)).toMatchObject({ nextPlan: null });
    setClock(FROM_MS);
    await hourlyCron();
    expect(await shown(id)).toMatchObject({ plan: "free", status: "revoked" });
  });

  it("is set in the console after a preview, seen there, and taken back", async ({ expect }) => {
    const { id } = await createKey({ plan: "free" });
    const { get, post } = await browserWith(env.ADMIN_TOKEN);
    const address = `/console/keys/${id}`;
    const html = await (await get(`${address}/edit`)).text();
    expect(/<input[^>]*name="planFrom"[^>]*>/.exec(html)?.[0]).not.toMatch(/required/);
    const form = formOn(html, "Change key").fields;
    const sent = { ...form, plan: "business", planFrom };
    const preview = await (await post(`${address}/edit`, sent)).text();
    expect(preview).toMatch(/Requests per minute: 60 → 1,000/);
    expect(await shown(id)).toMatchObject({ nextPlan: null });
    expect((await post(`${address}/edit`, { ...sent, apply: "true" })).status).toBe(303);
    for (const page of [address, `/console/keys?search=${id}`])
      expect(await (await get(page)).text()).toMatch(/Business from 2 Jan 2035/);
    const keep = formOn(await (await get(`${address}/keep-plan`)).text(), "Keep the plan").fields;
    await post(`${address}/keep-plan`, keep);
    expect(await shown(id)).toMatchObject({ plan: "free", nextPlan: null });
  });
});
