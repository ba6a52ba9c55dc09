/** Several keys are changed at once. What each change promises: changes.test.ts. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { createKey, giveKeys, type TestKey } from "../../support/factories.ts";
import { LIST, limiters, startApp, startEachTestAt, watchDatabase } from "../../support/worker.ts";
import { everythingStored, operatorOf } from "./admin-support.ts";

startEachTestAt(Date.UTC(2035, 0, 1, 12));

const app = startApp();
const operator = operatorOf(app);

const change = (what: string, body: object, as = operator) => as("POST", `/keys/${what}`, body);

async function statusOf({ key }: TestKey): Promise<number> {
  return (await app(LIST, { key })).status;
}

async function keysOf(customer: string, count: number): Promise<TestKey[]> {
  const keys = await Promise.all(Array.from({ length: count }, () => createKey({ plan: "free" })));
  for (const { id } of keys) await operator("PATCH", `/keys/${id}`, { customer });
  return keys;
}

async function rowsOf(ids: readonly string[]) {
  const { results } = await env.DB.prepare(
    `select object, call, before, after, request_id as request from audit_log
     where object in (select value from json_each(?)) and call in ('keys.update', 'keys.revoke') order by id`,
  )
    .bind(JSON.stringify(ids))
    .all();
  return results;
}

describe("several keys", () => {
  it("of a customer are disabled, enabled, moved and revoked, each with its audit row", async ({
    expect,
  }) => {
    const keys = await keysOf("Zoë", 3);
    const ids = keys.map(({ id }) => id);
    const other = await createKey();
    for (const each of keys) expect(await statusOf(each)).toBe(200);

    const { status, body } = await change("disable", { customer: "ZOË" });
    expect([status, body.unchanged]).toEqual([200, []]);
    expect(body.changed).toHaveLength(3);
    for (const id of ids)
      expect(body.changed).toContainEqual(
        expect.objectContaining({ id, was: "active", effective: "immediately" }),
      );
    for (const each of keys) expect(await statusOf(each)).toBe(401);
    expect(await statusOf(other)).toBe(200);
    const rows = (await rowsOf(ids)).slice(-3);
    expect(new Set(rows.map(({ object }) => object))).toEqual(new Set(ids));
    expect(new Set(rows.map(({ request }) => request)).size).toBe(1);
    expect(rows[0]).toMatchObject({
      call: "keys.update",
      before: '{"status":"active"}',
      after: '{"status":"disabled"}',
    });

    await change("enable", { customer: "Zoë" });
    for (const each of keys) expect(await statusOf(each)).toBe(200);
    await change("plan", { customer: "Zoë", plan: "pro" });
    for (const { key } of keys)
      expect((await app(LIST, { key })).headers.get("RateLimit-Policy")).toContain("q=300;w=60");
    await change("revoke", { customer: "Zoë" });
    for (const each of keys) expect(await statusOf(each)).toBe(401);
    expect((await rowsOf(ids)).at(-1)).toMatchObject({
      call: "keys.revoke",
      before: '{"status":"active"}',
      after: '{"status":"revoked"}',
    });
  });

  it("that cannot change are named with the reason, and the others change", async ({ expect }) => {
    const [first, second, third] = await keysOf("mixed", 3);
    const own = await createKey({ perMinute: 5, perDay: 50, plan: "free" });
    const ids = [first, second, third, own].flatMap((each) => each?.id ?? []);
    await operator("DELETE", `/keys/${second?.id}`);
    await operator("PATCH", `/keys/${third?.id}`, { disabled: true });
    const disabled = await change("disable", { ids: [...ids, ...ids] });
    expect(disabled.body.changed).toHaveLength(2);
    expect(disabled.body.unchanged).toHaveLength(2);
    expect(disabled.body.unchanged).toContainEqual(
      expect.objectContaining({ id: second?.id, reason: expect.stringContaining("revoked") }),
    );
    expect(disabled.body.unchanged).toContainEqual(
      expect.objectContaining({ id: third?.id, reason: expect.stringContaining("already") }),
    );
    // Plan enterprise has no limits of its own.
    const moved = await change("plan", { ids, plan: "enterprise" });
    expect(moved.body.changed).toMatchObject([{ id: own.id, was: "free" }]);
    const stored = await everythingStored();
    const again = await change("plan", { ids, plan: "enterprise" });
    expect(again.body.changed).toEqual([]);
    expect(await everythingStored()).toEqual(stored);
  });

  it.for([
    { what: "an unknown id", body: (id: string) => ({ ids: [id, "key_000000000000"] }), member: "ids" },
    { what: "a customer who does not exist", body: () => ({ customer: "Nobody" }), member: "customer" },
    { what: "no customer", body: () => ({ customer: " " }), member: "customer" },
    { what: "no ids", body: () => ({ ids: [] }), member: "ids" },
    { what: "neither ids nor a customer", body: () => ({}), member: "customer" },
    {
      what: "ids and a customer",
      body: (id: string) => ({ ids: [id], customer: "all or none" }),
      member: "ids",
    },
    { what: "more than 500 ids", body: (id: string) => ({ ids: Array(501).fill(id) }), member: "ids" },
  ])("with $what are a 400 that names the member, and none changes", async ({ body, member }, { expect }) => {
    const [key] = await keysOf("all or none", 1);
    const before = await everythingStored();
    for (const what of ["disable", "revoke"]) {
      const refused = await change(what, body(key?.id ?? ""));
      expect(refused).toMatchObject({ status: 400, body: { code: "invalid_request" } });
      expect(refused.body.problems).toContainEqual(expect.objectContaining({ member }));
    }
    expect(await everythingStored()).toEqual(before);
  });

  it("are told of a dry run, which changes nothing", async ({ expect }) => {
    const [key, other] = await keysOf("dry", 2);
    await operator("PATCH", `/keys/${key?.id}`, { requestsPerDay: 7 });
    await operator("PATCH", `/keys/${other?.id}`, { plan: "pro" });
    if (key) await statusOf(key);
    await operator("GET", `/keys/${key?.id}/usage`); // its limiter reports
    const before = await everythingStored();
    const { body } = await change("plan?dry-run", { customer: "dry", plan: "pro" });
    const shown = { admittedToday: 1, lastUsedDay: "2035-01-01", effective: null };
    expect(body).toMatchObject({
      changed: [
        { id: key?.id, was: "free", limits: { requestsPerMinute: 300, requestsPerDay: 7 }, ...shown },
      ],
      unchanged: [{ id: other?.id }],
    });
    expect(await everythingStored()).toEqual(before);
  });

  it("take effect each in its time: a limiter that cannot be reached follows", async ({ expect }) => {
    const [near, far] = await keysOf("far away", 2);
    for (const each of [near, far]) if (each) await statusOf(each);
    const fail = () => Promise.reject(new Error("the object cannot be reached"));
    const KEY_LIMITER = limiters((name) => ({
      forget: name === far?.id ? fail : async () => undefined,
    }));
    const { body } = await change("revoke", { customer: "far away" }, operatorOf(startApp({ KEY_LIMITER })));
    expect(body.changed).toContainEqual(expect.objectContaining({ id: near?.id, effective: "immediately" }));
    expect(body.changed).toContainEqual(
      expect.objectContaining({ id: far?.id, effective: "within minutes" }),
    );
  });

  it("change in as many statements, whatever their number, and 500 at most", async ({ expect }) => {
    const customer = await giveKeys("Many");
    await env.DB.exec(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 500) insert into api_keys (id, name, plan, customer_id, created_at) select printf('key_many%08d', i), 'many', 'free', '${customer}', 0 from n`,
    );
    const watched = watchDatabase();
    const as = operatorOf(startApp({ DB: watched.DB }));
    watched.queries();
    const { body } = await change("disable", { customer: "Many" }, as);
    expect(body.changed).toHaveLength(500);
    // Which keys, what they are, the entries, the change, what they are then, and whose limiters have a policy.
    expect(watched.queries()).toHaveLength(6);
    await env.DB.exec(
      `insert into api_keys (id, name, plan, customer_id, created_at) values ('key_many00000501', 'many', 'free', '${customer}', 0)`,
    );
    const refused = await change("enable", { customer: "Many" });
    expect(refused).toMatchObject({ status: 400, body: { problems: [{ member: "customer" }] } });
    expect(
      await env.DB.prepare(
        `select count(*) as n from api_keys where customer_id = '${customer}' and status = 'disabled'`,
      ).first(),
    ).toEqual({ n: 500 });
  });
});
