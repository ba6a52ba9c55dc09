/** Two operators change one key at the same time: whatever comes first, the database says what the limiter does. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { createKey } from "../../support/factories.ts";
import { captureLog, startApp } from "../../support/worker.ts";
import { LIST, type Operator, operatorOf } from "./admin-support.ts";

const app = startApp();
const operator = operatorOf(app);

beforeEach(() => {
  captureLog();
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** An operator whose changes are decided on before what `first` does, and written after it. */
function overtakenBy(first: () => Promise<unknown>, times = 1): Operator {
  let left = times;
  const DB = {
    prepare: (query: string) => env.DB.prepare(query),
    batch: async (statements: D1PreparedStatement[]) => {
      if (left-- > 0) await first();
      return env.DB.batch(statements);
    },
  };
  // The app uses these two members only.
  return operatorOf(startApp({ DB: DB as unknown as D1Database }));
}

async function reasonsOfLiveBans(id: string) {
  const listed = (await operator("GET", `/bans?key=${id}&state=live`)).body.bans as { reason: string }[];
  const live = (await operator("GET", `/keys/${id}`)).body.live as { ban: { reason: string } | null };
  return { listed: listed.map(({ reason }) => reason), inForce: live.ban?.reason ?? null };
}

const ban = (id: string, reason: string, by = operator) =>
  by("PUT", `/keys/${id}/ban`, { seconds: 600, reason });

describe("a override that another overtakes", () => {
  it("lifts the other's ban as well, if it lifts", async ({ expect }) => {
    const { id, key } = await createKey();
    await ban(id, "before");
    const late = overtakenBy(() => ban(id, "meanwhile"));
    expect(await late("DELETE", `/keys/${id}/ban`)).toMatchObject({ body: { effective: "immediately" } });
    expect(await reasonsOfLiveBans(id)).toEqual({ listed: [], inForce: null });
    expect((await app(LIST, { key })).status).toBe(200);
  });

  it("bans although the other lifts", async ({ expect }) => {
    const { id, key } = await createKey();
    await ban(id, "before");
    const late = overtakenBy(() => operator("DELETE", `/keys/${id}/ban`));
    expect(await ban(id, "late", late)).toMatchObject({ body: { effective: "immediately" } });
    expect(await reasonsOfLiveBans(id)).toEqual({ listed: ["late"], inForce: "late" });
    expect((await app(LIST, { key })).status).toBe(429);
  });

  it("takes the place of the other's ban, and each has its audit row", async ({ expect }) => {
    const { id } = await createKey();
    await ban(
      id,
      "late",
      overtakenBy(() => ban(id, "meanwhile")),
    );
    expect(await reasonsOfLiveBans(id)).toEqual({ listed: ["late"], inForce: "late" });
    expect((await operator("GET", `/audit?object=${id}`)).body.audit).toMatchObject([
      { before: { reason: "meanwhile" }, after: { reason: "late" } },
      { before: null, after: { reason: "meanwhile" } },
    ]);
  });

  it("again and again is a conflict, and leaves nothing behind", async ({ expect }) => {
    const { id } = await createKey();
    const late = overtakenBy(() => ban(id, "meanwhile"), 99);
    expect(await ban(id, "late", late)).toMatchObject({ status: 409, body: { code: "conflict" } });
    expect(await reasonsOfLiveBans(id)).toEqual({ listed: ["meanwhile"], inForce: "meanwhile" });
  });
});

describe("a change that would leave the key without a limit, as another came first", () => {
  it("is a conflict, and leaves no audit row", async ({ expect }) => {
    const { id } = await createKey({ plan: "pro", perMinute: 5, perDay: 5 });
    const giveUp = { requestsPerMinute: null, requestsPerDay: null };
    const late = overtakenBy(() => operator("PATCH", `/keys/${id}`, giveUp));
    const { status, body } = await late("PATCH", `/keys/${id}`, { plan: "enterprise" });
    expect([status, body.code]).toEqual([409, "conflict"]);
    expect((await operator("GET", `/keys/${id}`)).body).toMatchObject({ plan: "pro", ...giveUp });
    expect((await operator("GET", `/audit?object=${id}`)).body.audit).toHaveLength(1);
  });

  it("is a conflict for a new key too, as its plan has lost the limit", async ({ expect }) => {
    await operator("PATCH", "/plans/enterprise", { requestsPerMinute: 5, requestsPerDay: 5 });
    const take = { requestsPerMinute: null, requestsPerDay: null };
    const late = overtakenBy(() => operator("PATCH", "/plans/enterprise", take));
    expect(await late("POST", "/keys", { name: "late", plan: "enterprise" })).toMatchObject({ status: 409 });
  });
});

describe("a revoked key", () => {
  it("does not keep its plan from losing the limits that it relied on", async ({ expect }) => {
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
