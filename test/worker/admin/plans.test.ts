/** Plans: which queries a change makes, and which limiters it notifies. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { MAX_CONCURRENT_NOTIFICATIONS, MAX_KEYS_NOTIFIED } from "../../../src/worker/admin/plans/service.ts";
import { createKey } from "../../support/factories.ts";
import { captureLog, startApp, watchDatabase } from "../../support/worker.ts";
import { countingLimiters, operatorOf } from "./admin-support.ts";

const operator = operatorOf(startApp());

beforeEach(() => {
  captureLog();
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** With the ids `key_many<from>` and so on. A higher number was first used later. */
async function insertUsedKeys({ plan, from, count }: { plan: string; from: number; count: number }) {
  await env.DB.prepare(
    `with recursive n (i) as (select cast(?1 as int) union all select i + 1 from n where i + 1 < ?1 + ?2)
     insert into api_keys (id, name, plan, created_at, first_used_at)
     select 'key_many' || i, 'many', ?3, i, i from n`,
  )
    .bind(from, count, plan)
    .run();
}

describe("a change of a plan", () => {
  it("notifies the limiter of each active key that was ever used, 20 at a time", async ({ expect }) => {
    const keys = await Promise.all(Array.from({ length: 45 }, () => createKey({ plan: "pro", used: true })));
    await createKey({ plan: "pro", status: "revoked", used: true });
    await createKey({ plan: "pro" });
    const { KEY_LIMITER, names, maxConcurrent } = countingLimiters();
    const change = { requestsPerMinute: 299 };
    const { body } = await operatorOf(startApp({ KEY_LIMITER }))("PATCH", "/plans/pro", change);
    expect(body).toEqual({
      id: "pro",
      requestsPerMinute: 299,
      requestsPerDay: 10_000,
      keys: 46,
      version: 2,
      effective: "immediately",
    });
    expect(names().sort()).toEqual(keys.map(({ id }) => id).sort());
    expect(maxConcurrent()).toBe(MAX_CONCURRENT_NOTIFICATIONS);
  });

  it("takes effect within 60 seconds only if the plan has more keys than are notified", async ({
    expect,
  }) => {
    await insertUsedKeys({ plan: "business", from: 2, count: MAX_KEYS_NOTIFIED });
    const other = operatorOf(startApp({ KEY_LIMITER: countingLimiters().KEY_LIMITER }));
    const all = await other("PATCH", "/plans/business", { requestsPerMinute: 998 });
    expect(all.body).toMatchObject({ keys: MAX_KEYS_NOTIFIED, effective: "immediately" });
    await insertUsedKeys({ plan: "business", from: 1, count: 1 });
    const { KEY_LIMITER, names } = countingLimiters();
    const change = { requestsPerMinute: 999 };
    const { body } = await operatorOf(startApp({ KEY_LIMITER }))("PATCH", "/plans/business", change);
    expect(body).toMatchObject({ keys: MAX_KEYS_NOTIFIED + 1, effective: "within 60 seconds" });
    expect(names()).toHaveLength(MAX_KEYS_NOTIFIED);
    // The newest first use first: the key of the oldest is left out.
    expect(names()).not.toContain("key_many1");
  });

  it("is checked, and cannot remove a limit on which a key relies", async ({ expect }) => {
    const statusOf = async (plan: string, change: object) =>
      (await operator("PATCH", `/plans/${plan}`, change)).status;
    await createKey({ plan: "free" });
    expect(await statusOf("pro", {})).toBe(400);
    expect(await statusOf("pro", { requestsPerDay: 0 })).toBe(400);
    expect(await statusOf("none", { requestsPerDay: 1 })).toBe(404);
    expect(await statusOf("free", { requestsPerMinute: null })).toBe(409);
  });
});

describe("a change of a plan that D1 stores before it fails", () => {
  it("is answered with within 60 seconds, as no limiter was notified", async ({ expect }) => {
    const database = watchDatabase();
    const failing = operatorOf(startApp({ DB: database.DB }));
    database.failWith("D1_ERROR: Network connection lost.", /order by first_used_at desc limit/);
    const { status, body } = await failing("PATCH", "/plans/free", { requestsPerMinute: 59 });
    expect([status, body.effective, body.requestsPerMinute]).toEqual([200, "within 60 seconds", 59]);
    expect((await operator("GET", "/plans")).body.plans).toContainEqual(
      expect.objectContaining({ id: "free", requestsPerMinute: 59 }),
    );
  });
});

describe("a change of a key", () => {
  it("reads the limits of its plan without counting the plan's keys", async ({ expect }) => {
    const { id } = await createKey();
    const database = watchDatabase();
    const watched = operatorOf(startApp({ DB: database.DB }));
    expect((await watched("PATCH", `/keys/${id}`, { plan: "pro" })).status).toBe(200);
    expect((await watched("POST", "/keys", { name: "new", plan: "pro" })).status).toBe(201);
    expect(database.queries().filter((query) => /count\(/.test(query))).toEqual([]);
    expect((await operator("GET", "/plans")).body.plans).toContainEqual(
      expect.objectContaining({ id: "pro", keys: 48 }),
    );
  });
});
