/** `PUT /admin/orders`: all orders or none, again without effect, and what happens to cancelled orders. */
import { env } from "cloudflare:workers";
import { beforeAll, describe, it } from "vitest";
import { createKey, newOrderId, type TestKey } from "../../support/factories.ts";
import { LIST, startApp } from "../../support/worker.ts";
import { operatorOf } from "./admin-support.ts";

const app = startApp();
const operator = operatorOf(app);
const NOTHING = { inserted: 0, updated: 0, unchanged: 0, cancelled: 0, kept: 0 };

let caller: TestKey;
beforeAll(async () => {
  caller = await createKey();
});

const load = (query: string, ...orders: readonly string[]) =>
  operator("PUT", `/orders${query}`, `[${orders.join(",")}]`);

const audits = async () =>
  (await operator("GET", "/audit?call=orders.load&limit=500")).body.audit as unknown[]; // the route's answer

/** Everything that a load may change: the orders, the last revision, and how many audit rows there are. */
async function stored() {
  const [orders, revision] = await env.DB.batch([
    env.DB.prepare("select * from orders order by id"),
    env.DB.prepare("select max(revision) as last from order_changes"),
  ]);
  return [orders?.results, revision?.results, (await audits()).length];
}

async function cancel(id: string): Promise<void> {
  const { status } = await app(`${LIST}/${id}`, { method: "DELETE", key: caller.key });
  if (status !== 204) throw new Error(`the cancel got ${status}`);
}

describe("a load", () => {
  it("inserts and updates with all digits; an absent member stays, and null takes it away", async ({
    expect,
  }) => {
    const orders = [
      '{"id":9223372036854775807,"petId":-9223372036854775808,"quantity":9007199254740993,"complete":false}',
      '{"id":"9007199254740993","shipDate":"2026-11-21T12:00:00+02:00","status":"shipped","petId":5,"complete":true}',
    ];
    expect((await load("", ...orders)).body).toMatchObject({ ...NOTHING, inserted: 2 });
    const { body } = await load(
      "",
      '{"id":9007199254740993,"quantity":1,"shipDate":null,"status":null}',
      '{"id":9223372036854775807}',
    );
    expect(body).toMatchObject({ ...NOTHING, updated: 1, unchanged: 1 });
    const order = async (id: string) =>
      (await operator("GET", `/orders/${id}`)).text.replace(/,"version":\d+}$/, "}");
    expect(await order("9223372036854775807")).toBe(
      '{"id":"9223372036854775807","petId":"-9223372036854775808","quantity":"9007199254740993","shipDate":null,"complete":false,"status":"pending"}',
    );
    expect(await order("9007199254740993")).toBe(
      '{"id":"9007199254740993","petId":"5","quantity":"1","shipDate":null,"complete":true,"status":"shipped"}',
    );
    await load("", '{"id":9007199254740993,"petId":null,"quantity":null,"complete":null}');
    expect(await order("9007199254740993")).toBe(
      '{"id":"9007199254740993","petId":null,"quantity":null,"shipDate":null,"complete":null,"status":"shipped"}',
    );
  });

  it("writes one audit row with the file's name and the figures", async ({ expect }) => {
    const [first, second, third] = [newOrderId(), newOrderId(), newOrderId()];
    await load("", `{"id":${first}}`, `{"id":${second}}`, `{"id":${third}}`);
    await cancel(third);
    const before = (await audits()).length;
    const orders = [
      `{"id":${first},"petId":1}`,
      `{"id":${second}}`,
      `{"id":${third}}`,
      `{"id":${newOrderId()}}`,
    ];
    const figures = { inserted: 1, updated: 1, unchanged: 1, cancelled: 1, kept: 0 };
    expect((await load("?file=a%20file.csv", ...orders)).body).toMatchObject(figures);
    const after = await audits();
    expect(after).toHaveLength(before + 1);
    expect(after[0]).toMatchObject({
      ...{ actor: "mo", call: "orders.load", object: "orders", before: null },
      after: { file: "a file.csv", ...figures, statuses: [] },
    });
  });

  it("changes nothing when it is sent again, or as a dry run", async ({ expect }) => {
    const orders = [`{"id":${newOrderId()},"petId":1}`, `{"id":${newOrderId()},"status":"delivered"}`];
    const before = await stored();
    expect((await load("?dry-run", ...orders)).body).toMatchObject({ ...NOTHING, inserted: 2 });
    expect(await stored()).toEqual(before);
    await load("", ...orders);
    const after = await stored();
    expect((await load("", ...orders)).body).toMatchObject({ ...NOTHING, unchanged: 2 });
    expect((await load("")).body).toMatchObject(NOTHING);
    expect(await stored()).toEqual(after);
  });

  it("moves a status forward, and back only if it is allowed", async ({ expect }) => {
    const id = newOrderId();
    const order = (status: string, quantity = 1) =>
      `{"id":${id},"quantity":${quantity},"status":"${status}"}`;
    await load("", order("shipped"));
    const before = await stored();
    expect((await load("", order("pending"))).body).toMatchObject({ ...NOTHING, unchanged: 1, kept: 1 });
    expect(await stored()).toEqual(before);
    for (const query of ["?dry-run", ""]) {
      expect((await load(query, order("processing", 2))).body).toMatchObject({
        ...NOTHING,
        updated: 1,
        kept: 1,
      });
    }
    expect((await app(`${LIST}/${id}`, { method: "DELETE", key: caller.key })).status).toBe(409);
    expect((await load("", order("delivered"))).body).toMatchObject({ ...NOTHING, updated: 1 });
    expect((await load("?allow-backwards", order("pending"))).body).toMatchObject({ ...NOTHING, updated: 1 });
    const [back, forward, kept] = await audits();
    expect(back).toMatchObject({
      after: { statuses: [{ id: Number(id), from: "delivered", to: "pending" }] },
    });
    expect(forward).toMatchObject({
      after: { statuses: [{ id: Number(id), from: "shipped", to: "delivered" }] },
    });
    expect(kept).toMatchObject({ after: { updated: 1, kept: 1, statuses: [] } });
  });

  it("leaves cancelled orders cancelled, unless it restores them", async ({ expect }) => {
    const id = newOrderId();
    await load("", `{"id":${id}}`);
    await cancel(id);
    const status = () => env.DB.prepare("select status from orders where id = ?").bind(id).first("status");
    expect((await load("", `{"id":${id},"status":"shipped"}`)).body).toMatchObject({
      ...NOTHING,
      cancelled: 1,
    });
    const dryRun = await load("?dry-run&restore-cancelled", `{"id":${id}}`);
    expect([dryRun.body, await status()]).toMatchObject([{ ...NOTHING, inserted: 1 }, null]);
    expect((await load("?restore-cancelled", `{"id":${id}}`)).body).toMatchObject({
      ...NOTHING,
      inserted: 1,
    });
    expect(await status()).toBe("pending");
    // It was restored, and is an order like others.
    expect((await load("", `{"id":${id},"petId":2}`)).body).toMatchObject({ ...NOTHING, updated: 1 });
  });

  it("takes 5,000 orders with the longest members, which all change the list in one transaction", async ({
    expect,
  }) => {
    const members = '"petId":-9223372036854775807,"quantity":9223372036854775807,"complete":false';
    const orders = Array.from(
      { length: 5_000 },
      (_, i) =>
        `{"id":-${1_000_000_000_000_000_000 + i * 1024},${members},"shipDate":"2026-11-21T12:00:00.000Z","status":"processing"}`,
    );
    expect((await load("", ...orders)).body).toMatchObject({ ...NOTHING, inserted: 5_000 });
    const shipped = orders.slice(0, 101).map((order) => order.replace("processing", "shipped"));
    expect((await load("", ...shipped)).body).toMatchObject({ ...NOTHING, updated: 101 });
    const [{ after }] = (await audits()) as [{ after: { statuses: unknown[] } }]; // as the load writes it
    expect(after.statuses).toHaveLength(100);
    const tooMany = await load("", ...orders, '{"id":1}');
    expect(tooMany).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("at most 5000") },
    });
  });
});

describe("a refused load", () => {
  it("stores nothing, and names each wrong element with its first wrong member", async ({ expect }) => {
    const [id, twice] = [newOrderId(), newOrderId()];
    const before = await stored();
    const answer = await load(
      "",
      ...[`{"id":${id}}`, `{"id":"x${id}","price":5}`, "7", `{"id":${twice},"price":5}`],
      ...[`{"id":${twice}}`, `{"id":${twice},"petId":1}`, '{"petId":1}', '{"id":9223372036854775808}'],
    );
    const int64 = "must be a whole number of 64 bits, in digits";
    expect(answer).toMatchObject({ status: 400 });
    expect(answer.body).toMatchObject({
      ...{ code: "invalid_request", status: 400, message: expect.stringMatching(/^Nothing was stored/) },
      refused: [
        { index: 1, member: "id", reason: int64 },
        { index: 2, member: null, reason: "is not a JSON object" },
        { index: 3, member: "price", reason: "is not a known field" },
        { index: 5, member: "id", reason: "stands in element 4 already" },
        { index: 6, member: "id", reason: "is required" },
        { index: 7, member: "id", reason: int64 },
      ],
    });
    expect(await stored()).toEqual(before);
  });

  it("names at most 100 elements", async ({ expect }) => {
    const { body } = await load("", ...Array.from({ length: 101 }, () => "null"));
    expect(body.refused).toHaveLength(100);
  });

  it.for([
    ["", 400, "is not a JSON array"],
    ['{"id":1}', 400, "is not a JSON array"],
    ['[{"id":1}', 400, "is not a JSON array"],
    [`[${" ".repeat(2_097_151)}]`, 413, "at most 2097152 bytes"],
  ] as const)("is a body that is no array of orders: %#", async ([body, status, message], { expect }) => {
    const answer = await operator("PUT", "/orders", body);
    expect(answer).toMatchObject({ status, body: { message: expect.stringContaining(message) } });
  });

  it.for(["?file=", "?file=a%0Ab", "?dry-run=no", "?from=1", "?dry-run=false&dry-run"])(
    "has the query %s",
    async (query, { expect }) => {
      expect((await load(query, `{"id":${newOrderId()}}`)).status).toBe(400);
    },
  );
});

it("a load of which the database refuses an order stores none", async ({ expect }) => {
  const [id, refused] = [newOrderId(), newOrderId()];
  await env.DB.exec(
    `create trigger refuses before insert on orders when new.id = ${refused} begin select raise(abort, 'no'); end`,
  );
  const before = await stored();
  expect((await load("", `{"id":${id}}`, `{"id":${refused}}`)).status).toBe(500);
  await env.DB.exec("drop trigger refuses");
  expect(await stored()).toEqual(before);
});
