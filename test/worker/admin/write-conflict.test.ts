/** Two operators change keys and plans at the same time: none ends up without a limit. */
import { describe, it } from "vitest";
import { createKey } from "../../support/factories.ts";
import { LIST, startApp } from "../../support/worker.ts";
import { operatorOf, writingAfter } from "./admin-support.ts";

const app = startApp();
const operator = operatorOf(app);

describe("a change that would leave the key without a limit, because of another change before it", () => {
  it("is a conflict, and leaves no audit row", async ({ expect }) => {
    const { id } = await createKey({ plan: "pro", perMinute: 5, perDay: 5 });
    const giveUp = { requestsPerMinute: null, requestsPerDay: null };
    const late = writingAfter(() => operator("PATCH", `/keys/${id}`, giveUp));
    const { status, body } = await late("PATCH", `/keys/${id}`, { plan: "enterprise" });
    expect([status, body.code]).toEqual([409, "conflict"]);
    expect((await operator("GET", `/keys/${id}`)).body).toMatchObject({ plan: "pro", ...giveUp });
    expect((await operator("GET", `/audit?object=${id}`)).body.audit).toHaveLength(1);
  });

  it("is a conflict for a new key too, if its plan has lost the limit", async ({ expect }) => {
    await operator("PATCH", "/plans/enterprise", { requestsPerMinute: 5, requestsPerDay: 5 });
    const take = { requestsPerMinute: null, requestsPerDay: null };
    const late = writingAfter(() => operator("PATCH", "/plans/enterprise", take));
    expect(await late("POST", "/keys", { name: "late", plan: "enterprise" })).toMatchObject({ status: 409 });
  });
});

describe("a revoked key", () => {
  it("does not prevent its plan from losing the limits that it relied on", async ({ expect }) => {
    await operator("PATCH", "/plans/enterprise", { requestsPerMinute: 5, requestsPerDay: 5 });
    const { id, key } = await createKey({ plan: "enterprise" });
    await operator("DELETE", `/keys/${id}`);
    const none = { requestsPerMinute: null, requestsPerDay: null };
    expect((await operator("PATCH", "/plans/enterprise", none)).body).toMatchObject(none);
    expect((await operator("GET", `/keys/${id}`)).body).toMatchObject({
      status: "revoked",
      limits: { requestsPerMinute: 0, requestsPerDay: 0 },
      live: { day: { limit: 0, remaining: 0 } },
    });
    expect((await operator("GET", "/bans")).status).toBe(200);
    expect((await app(LIST, { key })).status).toBe(401);
  });
});
