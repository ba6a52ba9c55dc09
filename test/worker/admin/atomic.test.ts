/** A change that is written after another one, what its audit row says, and a change whose answer is lost. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { createKey } from "../../support/factories.ts";
import { log, startApp, watchDatabase } from "../../support/worker.ts";
import { operatorOf, writingAfter } from "./admin-support.ts";
import { changeOf, send } from "./changes.ts";

const operator = operatorOf(startApp());

async function key(): Promise<string> {
  return (await createKey()).id;
}

async function bannedKey(): Promise<string> {
  const id = await key();
  await operator("PUT", `/keys/${id}/ban`, { seconds: 60, reason: "before" });
  return id;
}

describe("a change that is written after another one", () => {
  for (const call of ["keys.update", "keys.rotate", "keys.revoke", "keys.limit_temporarily"]) {
    it(`leaves a revoked key and its secrets as they are, without an audit row: ${call}`, async ({
      expect,
    }) => {
      const id = await key();
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

describe("a change", () => {
  it("has the changed fields before and after in its audit row", async ({ expect }) => {
    const id = await key();
    await operator("PATCH", `/keys/${id}`, { name: "acme", requestsPerMinute: 5, disabled: true });
    await operator("PATCH", `/keys/${id}`, { requestsPerMinute: null, disabled: false });
    const { body } = await operator("GET", `/audit?object=${id}`);
    expect(body.audit).toMatchObject([
      {
        before: { requestsPerMinute: 5, status: "disabled" },
        after: { requestsPerMinute: null, status: "active" },
      },
      {
        before: { name: "test", requestsPerMinute: null, status: "active" },
        after: { name: "acme", requestsPerMinute: 5, status: "disabled" },
      },
    ]);
  });

  it("has the replaced or lifted ban in its audit row", async ({ expect }) => {
    const id = await bannedKey();
    await operator("PUT", `/keys/${id}/ban`, { seconds: 600, reason: "after" });
    await operator("DELETE", `/keys/${id}/ban`);
    const { body } = await operator("GET", `/audit?object=${id}`);
    expect(body.audit).toMatchObject([
      { call: "bans.lift", before: { reason: "after" }, after: null },
      { call: "bans.set", before: { reason: "before" }, after: { reason: "after" } },
      { call: "bans.set", before: null, after: { reason: "before" } },
    ]);
  });
});

describe("a change that is stored, and whose answer is lost", () => {
  it("is said to be possible", async ({ expect }) => {
    const { id } = await createKey();
    const batch = async (statements: D1PreparedStatement[]) => {
      await env.DB.batch(statements);
      throw new Error("D1_ERROR: Network connection lost.");
    };
    // The app uses these two members only.
    const DB = { prepare: (query: string) => env.DB.prepare(query), batch } as unknown as D1Database;
    const losing = operatorOf(startApp({ DB }));
    const message =
      "The database cannot be reached. If this was a change, it may have been made: look, then try again.";
    expect(await losing("DELETE", `/keys/${id}`)).toMatchObject({ status: 503, body: { message } });
    expect((await operator("GET", `/keys/${id}`)).body).toMatchObject({ status: "revoked" });
  });

  it("is logged once, with the cause of the outage", async ({ expect }) => {
    const { DB, failWith } = watchDatabase();
    failWith("D1_ERROR: Network connection lost.");
    await operatorOf(startApp({ DB }))("PATCH", "/plans/pro", { requestsPerMinute: 301 });
    const failed = log.lines().filter(({ event }) => event === "request_failed");
    expect(failed).toHaveLength(1);
    expect(JSON.stringify(failed)).toContain("Network connection lost.");
  });
});
