/** A change that is written after another change was made, and a change whose answer is lost. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { createKey } from "../../support/factories.ts";
import { LIST, startApp, watchDatabase } from "../../support/worker.ts";
import { wrapDatabase } from "../../support/wrap-database.ts";
import { operatorOf, writingAfter } from "./admin-support.ts";
import { changeOf, send } from "./changes.ts";

const app = startApp();
const operator = operatorOf(app);

describe("a change that is written after another one", () => {
  for (const call of [
    "keys.update",
    "keys.rotate",
    "keys.revoke",
    "keys.limit_temporarily",
    "keys.end_temporary_limits",
  ]) {
    it(`leaves a revoked key and its secrets as they are, without an audit row: ${call}`, async ({
      expect,
    }) => {
      const { id } = await createKey();
      const late = writingAfter(() =>
        env.DB.exec(`update api_keys set status = 'revoked' where id = '${id}'`),
      );
      expect((await send(late, changeOf(call), { id })).status).toBe(call === "keys.revoke" ? 200 : 409);
      expect((await operator("GET", `/keys/${id}`)).body).toMatchObject({
        status: "revoked",
        name: "test",
        secrets: [{ expiresAt: null }],
      });
      expect((await operator("GET", `/audit?object=${id}`)).body.audit).toEqual([]);
    });
  }

  it("leaves a cancelled order cancelled, without an audit row: orders.update", async ({ expect }) => {
    const { orderId: id } = await changeOf("orders.update").make();
    const late = writingAfter(() => env.DB.exec(`delete from orders where id = ${id}`));
    expect((await late("PATCH", `/orders/${id}`, { status: "shipped" })).status).toBe(404);
    expect((await operator("GET", `/orders/${id}`)).status).toBe(404);
    expect((await operator("GET", `/audit?object=${id}`)).body.audit).toEqual([]);
  });
});

describe("a change that would leave the key without a limit", () => {
  it("is a conflict", async ({ expect }) => {
    const { id } = await createKey();
    for (const refused of [
      await operator("POST", "/keys", { name: "e", plan: "enterprise", requestsPerDay: 5 }),
      await operator("PATCH", `/keys/${id}`, { plan: "enterprise" }),
    ])
      expect(refused).toMatchObject({
        status: 409,
        body: { message: "The key needs limits of its own, as plan Enterprise has none." },
      });
  });

  it("because of another change before it, is a conflict, and leaves no audit row", async ({ expect }) => {
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

describe("rotations", () => {
  it("of a key that is expired, disabled or revoked: only of the disabled key", async ({ expect }) => {
    const keys = [{ expiresAt: 1 }, { status: "disabled" }, { status: "revoked" }] as const;
    const answers = await Promise.all(
      keys.map(async (key) => operator("POST", `/keys/${(await createKey(key)).id}/rotate`, {})),
    );
    expect(answers.map(({ status }) => status)).toEqual([409, 200, 409]);
  });
});

describe("a change that the database refuses to store", () => {
  it.for([
    "Exceeded maximum DB size",
    "database or disk is full: SQLITE_FULL",
    "database is locked: SQLITE_BUSY",
  ])("is said to be not made: %s", async (text, { expect }) => {
    const { DB, failWith } = watchDatabase();
    failWith(`D1_ERROR: ${text}`, /insert|update/);
    const { status, body } = await operatorOf(startApp({ DB }))("PATCH", "/plans/pro", {
      requestsPerMinute: 302,
    });
    expect([status, body.message]).toEqual([503, expect.stringContaining("Nothing was changed.")]);
  });
});

describe("a change that is stored, and whose answer is lost", () => {
  it("is said to be possible", async ({ expect }) => {
    const { id } = await createKey();
    const DB = wrapDatabase(env.DB, async (_, run) => {
      await run();
      throw new Error("D1_ERROR: Network connection lost.");
    });
    const losing = operatorOf(startApp({ DB }));
    const message =
      "The database cannot be reached. If this was a change, it may have been made: look, then try again.";
    expect(await losing("DELETE", `/keys/${id}`)).toMatchObject({ status: 503, body: { message } });
    expect((await operator("GET", `/keys/${id}`)).body).toMatchObject({ status: "revoked" });
  });
});
