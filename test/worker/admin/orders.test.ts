/** Orders through the admin API: lists with filters, a status that goes backwards, deletions. */
import { env } from "cloudflare:workers";
import { beforeEach, describe, it } from "vitest";
import { createKey, insertOrders, newOrderId } from "../../support/factories.ts";
import { LIST, setClock, startApp } from "../../support/worker.ts";
import { wrapDatabase } from "../../support/wrap-database.ts";
import { operatorOf, writingAfter } from "./admin-support.ts";

const app = startApp();
const operator = operatorOf(app);

/** The ids as text, with all their digits. */
async function listed(query: string): Promise<{ ids: string[]; next: string | null }> {
  const { status, text } = await operator("GET", `/orders${query}`);
  if (status !== 200) throw new Error(text);
  const { orders, next } = JSON.parse(text);
  return { ids: orders.map(({ id }: { id: string }) => id), next };
}

describe("the operator's list of orders", () => {
  beforeEach(async () => {
    await env.DB.prepare("delete from orders").run();
  });

  it("has every order with its status, by id, in pages", async ({ expect }) => {
    const ids = ["-9223372036854775808", "-1", "5", "9007199254740993", "9223372036854775807"];
    await insertOrders(...ids.map((id) => ({ id, petId: id, status: "shipped" })));
    expect(await listed("")).toEqual({ ids, next: null });
    const pages = ["?limit=2"];
    for (const query of pages) {
      const { ids: shown, next } = await listed(query);
      expect(shown).toEqual(ids.splice(0, 2));
      if (next !== null) pages.push(`?limit=2&after=${next}`);
    }
    expect(ids).toEqual([]);
    expect(await listed("?petId=9007199254740993")).toEqual({ ids: ["9007199254740993"], next: null });
    expect((await operator("GET", "/orders?petId=-9223372036854775808")).text).toBe(
      '{"orders":[{"id":"-9223372036854775808","petId":"-9223372036854775808","quantity":null,"shipDate":null,"complete":null,"status":"shipped","version":0}],"next":null}',
    );
  });

  it("filters by status and pet, from either end", async ({ expect }) => {
    const orders = Array.from({ length: 100 }, (_, i) => ({
      id: String(i + 1),
      petId: String(i % 2),
      status: i % 25 === 24 ? "delivered" : "pending",
    }));
    await insertOrders(...orders);
    const first = await listed("?status=delivered&limit=3");
    expect(first.ids).toEqual(["25", "50", "75"]);
    expect(await listed(`?status=delivered&limit=3&after=${first.next}`)).toEqual({
      ids: ["100"],
      next: null,
    });
    expect(await listed("?status=delivered&limit=4")).toEqual({ ids: ["25", "50", "75", "100"], next: null });
    const downwards = await listed("?status=delivered&limit=2&direction=desc");
    expect(downwards.ids).toEqual(["100", "75"]);
    expect(await listed("?status=delivered&petId=1&limit=50")).toEqual({ ids: ["50", "100"], next: null });
  });
});

it("the list of cancelled orders has their members with all digits, who cancelled them, and when", async ({
  expect,
}) => {
  setClock(Date.UTC(2035, 0, 1, 12));
  const { id: keyId, key } = await createKey();
  const [id, quantity] = ["-9223372036854775808", "9223372036854775805"];
  await insertOrders({ id, petId: id, quantity });
  expect((await app(`${LIST}/${id}`, { method: "DELETE", key })).status).toBe(204);
  const { body } = await operator("GET", "/orders/cancelled?limit=1");
  expect(body.cancelled).toMatchObject([
    {
      ...{ id, petId: id, quantity, cancelledAt: "2035-01-01T12:00:00Z" },
      ...{ cancelledBy: keyId, cancelledByName: "test" },
    },
  ]);
});

it("an order's members are changed one by one; null removes one; a wrong one is named", async ({
  expect,
}) => {
  const id = newOrderId();
  await insertOrders({ id, petId: "1", quantity: "1", complete: true });
  const changes = { quantity: 4, complete: null, shipDate: "2026-11-21T12:00:00+02:00" };
  const { body } = await operator("PATCH", `/orders/${id}`, changes);
  const changed = { quantity: "4", complete: null, shipDate: "2026-11-21T10:00:00.000Z" };
  expect(body).toMatchObject({ id, petId: "1", ...changed, status: "pending" });
  const wrong = await operator("PATCH", `/orders/${id}`, { shipDate: "x", status: "lost", petId: 2 });
  expect(wrong.body.message).toMatch(/^status: .*; shipDate: .*; petId: /);
  expect((await operator("PATCH", `/orders/${id}`, {})).status).toBe(400);
});

describe("an order's status", () => {
  const newOrder = async (status: string) => {
    const id = newOrderId();
    await insertOrders({ id, status });
    return id;
  };

  it("goes backwards only if the operator says so, and else forwards, or stays", async ({ expect }) => {
    const id = await newOrder("delivered");
    const refused = await operator("PATCH", `/orders/${id}`, { status: "pending", quantity: 3 });
    expect(refused).toMatchObject({
      status: 409,
      body: {
        code: "conflict",
        message: "The order would go back from delivered to pending, which was not allowed.",
      },
    });
    expect((await operator("GET", `/orders/${id}`)).body).toMatchObject({
      status: "delivered",
      quantity: null,
    });
    expect((await operator("GET", `/audit?object=${id}`)).body.audit).toEqual([]);
    const allowed = await operator("PATCH", `/orders/${id}`, { status: "pending", allowBackwards: true });
    expect(allowed.body).toMatchObject({ status: "pending" });
    expect((await operator("GET", `/audit?object=${id}`)).body.audit).toMatchObject([
      { before: { status: "delivered" }, after: { status: "pending" } },
    ]);
    for (const status of ["pending", "processing", "delivered", "delivered"]) {
      expect((await operator("PATCH", `/orders/${id}`, { status })).body).toMatchObject({ status });
    }
  });
});

describe("shipping orders", () => {
  const [FIRST, LARGE] = ["-9223372036854775808", "9007199254740993"];
  const ship = (ids: unknown, by = operator) => by("POST", "/orders/ship", { ids });
  const auditOf = async (id: string) => (await operator("GET", `/audit?object=${id}`)).body.audit;

  it("ships what is in the store, each with its audit row, and names the others", async ({ expect }) => {
    const [delivered, missing] = [newOrderId(), newOrderId()];
    await insertOrders({ id: FIRST }, { id: LARGE, status: "processing" });
    await insertOrders({ id: delivered, status: "delivered" });
    const ids = [LARGE, delivered, missing, FIRST, LARGE];
    expect(await ship(ids)).toMatchObject({
      status: 200,
      body: {
        shipped: [LARGE, FIRST],
        unchanged: [{ id: delivered, status: "delivered" }],
        missing: [missing],
      },
    });
    for (const [id, status] of [
      [FIRST, "pending"],
      [LARGE, "processing"],
    ] as const) {
      expect((await operator("GET", `/orders/${id}`)).body).toMatchObject({ id, status: "shipped" });
      expect(await auditOf(id)).toMatchObject([
        { call: "orders.ship", actor: "mo", before: { status }, after: { status: "shipped" } },
      ]);
    }
    expect((await ship(ids)).body).toMatchObject({ shipped: [], missing: [missing] });
    for (const id of [delivered, missing]) expect(await auditOf(id)).toEqual([]);
    expect(await auditOf(LARGE)).toHaveLength(1);
  });

  it("does not undo a cancel, and a client cannot cancel what was shipped", async ({ expect }) => {
    const [id, cancelled] = [newOrderId(), newOrderId()];
    await insertOrders({ id }, { id: cancelled });
    const { key } = await createKey();
    const cancel = async (order: string) => (await app(`${LIST}/${order}`, { method: "DELETE", key })).status;
    const late = writingAfter(async () => expect(await cancel(cancelled)).toBe(204));
    expect((await ship([id, cancelled], late)).body).toMatchObject({ shipped: [id], missing: [cancelled] });
    expect(await cancel(id)).toBe(409);
    expect(await auditOf(cancelled)).toEqual([]);
  });

  it("refuses what are no ids of 64 bits, and more than 500", async ({ expect }) => {
    const tooMany = Array.from({ length: 501 }, (_, i) => String(i));
    for (const ids of [[], [1], ["01"], ["9223372036854775808"], "1", null, tooMany]) {
      expect(await ship(ids)).toMatchObject({
        status: 400,
        body: { message: expect.stringMatching(/^ids: must be /) },
      });
    }
  });
});

describe("a change that matches no order", () => {
  /** An operator whose changes are in D1 before `then` runs, and are answered after it. */
  function answeredAfter(then: () => Promise<unknown>) {
    const DB = wrapDatabase(env.DB, async (sql, run) => {
      const results = await run();
      if (sql.length > 1) await then();
      return results;
    });
    return operatorOf(startApp({ DB }));
  }

  it("is a 409 with the status that it met, whatever happens to the order before the answer", async ({
    expect,
  }) => {
    for (const [method, body] of [
      ["PATCH", { status: "pending", allowBackwards: true }],
      ["DELETE", undefined],
    ] as const) {
      const id = newOrderId();
      await insertOrders({ id, status: "delivered" });
      const late = answeredAfter(() => operator(method, `/orders/${id}`, body));
      expect(await late("PATCH", `/orders/${id}`, { status: "shipped" })).toMatchObject({
        status: 409,
        body: { message: "The order would go back from delivered to shipped, which was not allowed." },
      });
    }
  });
});

describe("a change whose upload breaks off", () => {
  it("is a 408, and no outage of the database", async ({ expect }) => {
    const id = newOrderId();
    await insertOrders({ id });
    let step = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (step++ === 0) controller.enqueue(new TextEncoder().encode('{"status":'));
        else controller.error(new Error("Network connection lost."));
      },
    });
    const headers = { Authorization: `Bearer ${env.ADMIN_TOKEN}` };
    const response = await app(`/admin/orders/${id}`, { method: "PATCH", headers, body });
    expect(response.status).toBe(408);
    expect(await response.json()).toMatchObject({ code: "request_timeout" });
  });
});

describe("deleting an order", () => {
  it("works in any status, answers with the order, and keeps all of it in the audit log", async ({
    expect,
  }) => {
    const members = { shipDate: "2026-01-01T00:00:00.000Z", complete: true };
    const order = { petId: "9223372036854775807", quantity: "9007199254740993", ...members };
    for (const status of ["pending", "processing", "shipped", "delivered"]) {
      const id = newOrderId();
      await operator("PUT", "/orders", [{ id, ...order, status }]);
      const deleted = await operator("DELETE", `/orders/${id}`);
      expect(deleted).toMatchObject({ status: 200, body: { id, ...order, status } });
      expect((await operator("GET", `/orders/${id}`)).status).toBe(404);
      expect((await operator("DELETE", `/orders/${id}`)).status).toBe(404);
      const { body } = await operator("GET", `/audit?object=${id}`);
      const before = { id: Number(id), ...order, status };
      expect(body.audit).toMatchObject([{ call: "orders.delete", actor: "mo", before, after: null }]);
    }
  });
});
