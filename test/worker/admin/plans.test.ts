/** Plans: how a change is checked. Whose limiters are told is in refresh-limiters.test.ts. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { countKeysOver } from "../../../src/worker/admin/plans/sql.ts";
import { openDatabase } from "../../../src/worker/db/database.ts";
import { createKey } from "../../support/factories.ts";
import { startApp, watchDatabase } from "../../support/worker.ts";
import { operatorOf } from "./admin-support.ts";

const operator = operatorOf(startApp());

it("the plans are those of the specification, with their number of keys", async ({ expect }) => {
  await createKey({ plan: "business" });
  expect((await operator("GET", "/plans")).body.plans).toMatchObject([
    { id: "free", requestsPerMinute: 60, requestsPerDay: 1_000 },
    { id: "pro", requestsPerMinute: 300, requestsPerDay: 10_000 },
    { id: "business", requestsPerMinute: 1_000, requestsPerDay: 100_000, keys: 1 },
    { id: "enterprise", requestsPerMinute: null, requestsPerDay: null },
  ]);
});

describe("a change of a plan", () => {
  it("is checked, and cannot remove a limit on which a key relies", async ({ expect }) => {
    const statusOf = async (plan: string, change: object) =>
      (await operator("PATCH", `/plans/${plan}`, change)).status;
    await createKey({ plan: "free" });
    expect(await statusOf("pro", {})).toBe(400);
    expect(await statusOf("pro", { requestsPerDay: 0 })).toBe(400);
    expect(await statusOf("none", { requestsPerDay: 1 })).toBe(404);
    expect(await statusOf("free", { requestsPerMinute: null })).toBe(409);
  });

  it("stops the keys that rely on its limit of the day and have used as much", async ({ expect }) => {
    const now = Math.floor(Date.now() / 1000);
    const use = env.DB.prepare("insert into usage values (?, ?, null, 'free', ?, 0, 0, 1000, '{}', '[]')");
    const limited = await createKey({ plan: "free" });
    await operator("POST", `/keys/${limited.id}/temporary-limits`, { requestsPerDay: 9, days: 1 });
    for (const [admitted, { id }] of [
      [5, await createKey({ plan: "free" })],
      [4, await createKey({ plan: "free" })],
      [5, await createKey({ plan: "free", status: "revoked" })],
      [5, await createKey({ plan: "free", perDay: 9 })],
      [5, limited],
    ] as const)
      await use.bind(now - (now % 86_400), id, admitted).run();
    expect(await countKeysOver(openDatabase(env.DB), "free", 5, now)).toBe(1);
  });
});

describe("a change of a key", () => {
  it("reads the limits of its plan without counting the plan's keys", async ({ expect }) => {
    const { id } = await createKey();
    const database = watchDatabase();
    const watched = operatorOf(startApp({ DB: database.DB }));
    expect((await watched("PATCH", `/keys/${id}`, { plan: "pro" })).status).toBe(200);
    expect((await watched("POST", "/keys", { name: "new", plan: "pro" })).status).toBe(201);
    expect(database.queries().filter((query) => /count\(.*from api_keys/s.test(query))).toEqual([]);
    expect((await operator("GET", "/plans")).body.plans).toContainEqual(
      expect.objectContaining({ id: "pro", keys: 2 }),
    );
  });
});
