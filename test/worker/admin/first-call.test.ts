/**
 * Only a client's request creates a limiter, because a Durable Object stays where it was first called. That a
 * change creates none is in changes.test.ts.
 */
import { env } from "cloudflare:workers";
import { describe, it, vi } from "vitest";
import { openDatabase } from "../../../src/worker/db/database.ts";
import { loadKeyPolicy } from "../../../src/worker/key/key-policy-sql.ts";
import { createKey } from "../../support/factories.ts";
import { LIST, limiters, runMinuteCron, startApp, watchLimiters } from "../../support/worker.ts";
import { wrapDatabase } from "../../support/wrap-database.ts";
import { operatorOf } from "./admin-support.ts";

function watchedOperator() {
  const { KEY_LIMITER, addressed } = watchLimiters();
  return { operator: operatorOf(startApp({ KEY_LIMITER })), addressed };
}

describe("a key that was never used", () => {
  it("does not have its limiter created by what only reads", async ({ expect }) => {
    const { id } = await createKey();
    const { operator, addressed } = watchedOperator();
    const ofKey = [`/keys/${id}`, `/keys/${id}/usage`, `/bans?key=${id}`];
    for (const path of [...ofKey, "/usage", "/bans"]) expect((await operator("GET", path)).status).toBe(200);
    expect(addressed()).not.toContain(id);
  });

  it("is shown with its whole quota", async ({ expect }) => {
    const { id } = await createKey({ perMinute: 7, perDay: 9 });
    const { operator } = watchedOperator();
    expect((await operator("GET", `/keys/${id}`)).body).toMatchObject({
      firstUsedAt: null,
      live: { minute: { limit: 7, used: 0, remaining: 7 }, day: { remaining: 9 }, strikes: 0, ban: null },
    });
  });

  it("is refused if it was banned before its first request", async ({ expect }) => {
    const { id, key } = await createKey();
    const { operator } = watchedOperator();
    await operator("PUT", `/keys/${id}/ban`, { seconds: 600, reason: "test" });
    expect((await operator("GET", `/keys/${id}`)).body.live).toMatchObject({ ban: { reason: "test" } });
    expect((await startApp()(LIST, { key })).status).toBe(429);
  });

  it("is decided by a change that comes while its limiter reads the policy", async ({ expect }) => {
    const { id } = await createKey();
    const disable = env.DB.prepare("update api_keys set status = 'disabled' where id = ?").bind(id);
    const DB = wrapDatabase(env.DB, async (sql, run) => {
      const result = await run();
      if (sql.length === 1) await disable.run();
      return result;
    });
    expect(await loadKeyPolicy(openDatabase(DB), id, 1)).toMatchObject({ status: "disabled" });
  });
});

describe("the first use of a key", () => {
  it("is a request that was admitted, and neither a 401 nor a 429", async ({ expect }) => {
    const { id, key } = await createKey();
    const { operator } = watchedOperator();
    const firstUse = async () => (await operator("GET", `/keys/${id}`)).body.firstUsedAt;
    const { body } = await operator("POST", `/keys/${id}/rotate`, { graceSeconds: 0 });
    expect((await startApp()(LIST, { key })).status).toBe(401);
    await operator("PUT", `/keys/${id}/ban`, { seconds: 600, reason: "test" });
    expect((await startApp()(LIST, { key: body.key })).status).toBe(429);
    await operator("DELETE", `/keys/${id}/ban`); // the limiter reports first
    expect(await firstUse()).toBeNull();
    expect((await startApp()(LIST, { key: body.key })).status).toBe(200);
    await vi.waitFor(async () => expect(await firstUse()).not.toBeNull());
  });
});

describe("a key that is created again with the id of a key that was deleted", () => {
  it.for([
    ["at once", false],
    ["after its limiter has read that there is no such key", true],
  ] as const)("works with its first request, %s", async ([, isRefreshed], { expect }) => {
    const { operator } = watchedOperator();
    const body = { id: isRefreshed ? "key_again0000001" : "key_again0000002", name: "again", plan: "free" };
    const ask = async (key: unknown) => (await startApp()(LIST, { key: String(key) })).status;
    const first = await operator("POST", "/keys", body);
    expect(await ask(first.body.key)).toBe(200);
    for (const [table, column] of [
      ["key_secrets", "key_id"],
      ["api_keys", "id"],
    ])
      await env.DB.prepare(`delete from ${table} where ${column} = ?`).bind(body.id).run();
    if (isRefreshed) {
      await runMinuteCron();
      expect(await ask(first.body.key)).toBe(401);
    }
    const second = await operator("POST", "/keys", body);
    expect([await ask(second.body.key), await ask(first.body.key)]).toEqual([200, 401]);
  });
});

describe("a key's location", () => {
  it("is the location hint for its limiter", async ({ expect }) => {
    const { operator } = watchedOperator();
    const created = await operator("POST", "/keys", { name: "far", plan: "free", location: "oc" });
    expect(created.body).toMatchObject({ location: "oc" });
    const { KEY_LIMITER, addressed, locationHints } = watchLimiters();
    const app = startApp({ KEY_LIMITER });
    expect((await app(LIST, { key: created.body.key })).status).toBe(200);
    await operatorOf(app)("GET", `/keys/${created.body.id}`);
    expect(addressed()).toEqual([created.body.id, created.body.id]);
    expect(locationHints()).toEqual(["oc", "oc"]);
  });
});

describe("a change whose operator disconnects before the limiter is told", () => {
  it("is still sent to the limiter", async ({ expect }) => {
    const { id, key } = await createKey();
    const isolate = startApp();
    await isolate(LIST, { key });
    const kept: Promise<unknown>[] = [];
    const { promise: hungUp, resolve: hangUp } = Promise.withResolvers<void>();
    const KEY_LIMITER = limiters((name) => ({
      forget: async () => {
        await hungUp;
        await env.KEY_LIMITER.getByName(name).forget();
      },
    }));
    const operator = operatorOf(startApp({ KEY_LIMITER }, (promise) => kept.push(promise)));
    void operator("DELETE", `/keys/${id}`);
    await vi.waitFor(() => expect(kept).toHaveLength(1));
    hangUp();
    await Promise.all(kept);
    expect((await isolate(LIST, { key })).status).toBe(401);
  });
});
