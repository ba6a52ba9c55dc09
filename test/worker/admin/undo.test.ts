/** `POST /admin/audit/:id/undo`: what an entry says is brought back, unless something has changed since. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { MAX_ORDERS_PER_SHIPMENT } from "../../../src/worker/db/values.ts";
import { createKey, insertOrders, newOrderId } from "../../support/factories.ts";
import { startApp } from "../../support/worker.ts";
import { operatorOf } from "./admin-support.ts";

const operator = operatorOf(startApp());

async function undo(object: string) {
  const select = env.DB.prepare("select max(id) as id from audit_log where object = ?");
  const id = await select.bind(object).first<number>("id");
  return (body?: unknown) => operator("POST", `/audit/${id}/undo`, body);
}

/** What is stored, without the version. */
const orderOf = (id: string) =>
  env.DB.prepare("select quantity, ship_date, complete, status from orders where id = ?").bind(id).first();
const keyOf = (id: string) =>
  env.DB.prepare("select name, status, expires_at, may_cancel, plan from api_keys where id = ?")
    .bind(id)
    .first();
const planOf = () =>
  env.DB.prepare("select requests_per_minute, alert_percents from plans where id = 'pro'").first();

async function changeable(kind: "order" | "shipped" | "key" | "plan") {
  if (kind === "plan") {
    const change = { requestsPerMinute: 7, alertPercents: [50] };
    return { object: "pro", read: planOf, path: "/plans/pro", change, other: { requestsPerMinute: 8 } };
  }
  if (kind === "key") {
    const { id } = await createKey();
    const change = { disabled: true, mayCancel: false, expiresAt: "2036-01-01T00:00:00Z", plan: "pro" };
    return { object: id, read: () => keyOf(id), path: `/keys/${id}`, change, other: { disabled: false } };
  }
  const id = newOrderId();
  await insertOrders({ id, quantity: "3", shipDate: "2035-01-02T03:04:05.678Z" });
  const change = { status: "shipped", quantity: null, complete: true, shipDate: "2035-02-03T00:00:00.001Z" };
  const order = { object: id, read: () => orderOf(id), path: `/orders/${id}`, change };
  return { ...order, other: { status: "delivered" } };
}

describe("an undo", () => {
  it.for(["order", "key", "plan", "shipped"] as const)("brings back a %s", async (kind, { expect }) => {
    const { object, read, path, change, other } = await changeable(kind);
    const before = await read();
    if (kind === "shipped") await operator("POST", "/orders/ship", { ids: [object] });
    else await operator("PATCH", path, change);
    expect(await read()).not.toEqual(before);
    const again = await undo(object);
    expect(await again()).toMatchObject({ status: 200, body: { undone: [object], left: [] } });
    expect(await read()).toEqual(before);
    // The entry's change is not in force any more.
    expect(await again()).toMatchObject({ status: 409, body: { code: "conflict" } });
    await operator("PATCH", path, change);
    const late = await undo(object);
    await operator("PATCH", path, other);
    const { status, body } = await late();
    expect([status, body.message]).toEqual([
      409,
      expect.stringContaining(kind === "plan" ? "requests per minute" : "status"),
    ]);
    if (kind === "plan") await operator("PATCH", path, { requestsPerMinute: 300, alertPercents: [80, 100] });
  });

  it("of a shipment leaves the orders that have changed since", async ({ expect }) => {
    const ids = Array.from({ length: 6 }, newOrderId);
    const [first, second, gone, delivered, again, earlier] = ids;
    await insertOrders(...ids.map((id) => ({ id })));
    await operator("PATCH", `/orders/${second}`, { status: "processing" });
    await operator("POST", "/orders/ship", { ids: [earlier] });
    await operator("POST", "/orders/ship", { ids });
    const undoFirst = await undo(first ?? "");
    await operator("DELETE", `/orders/${gone}`);
    await operator("PATCH", `/orders/${delivered}`, { status: "delivered" });
    await (await undo(again ?? ""))();
    await operator("POST", "/orders/ship", { ids: [again] });
    const all = { call: "orders.ship", undone: [first, second], left: [gone, delivered, again] };
    expect(await undoFirst({ shipment: true })).toMatchObject({ status: 200, body: all });
    const stored = await Promise.all(ids.map((id) => orderOf(id)));
    expect(stored.map((order) => order?.status)).toEqual([
      "pending",
      "processing",
      undefined,
      "delivered",
      "shipped",
      "shipped",
    ]);
    expect((await undoFirst({ shipment: true })).status).toBe(409);
    expect((await (await undo(second ?? ""))({ shipment: true })).status).toBe(409); // of another kind
  });

  it("of the largest shipment is one change of each order", async ({ expect }) => {
    const ids = Array.from({ length: MAX_ORDERS_PER_SHIPMENT }, newOrderId);
    await insertOrders(...ids.map((id) => ({ id })));
    await operator("POST", "/orders/ship", { ids });
    const { body } = await (await undo(ids[0] ?? ""))({ shipment: true });
    expect([body.undone, body.left]).toEqual([ids, []]);
    const { audit } = (await operator("GET", `/audit?object=${ids[499]}`)).body;
    expect(audit).toMatchObject([{ call: "orders.update", after: { status: "pending" } }, {}]);
  });

  it("does not bring back what a client has cancelled, nor a change of another kind", async ({ expect }) => {
    const [gone, kept] = [newOrderId(), newOrderId()];
    await insertOrders({ id: gone }, { id: kept });
    await operator("PATCH", `/orders/${gone}`, { quantity: 9 });
    const undoGone = await undo(gone);
    await env.DB.prepare("delete from orders where id = ?").bind(gone).run();
    expect((await undoGone()).status).toBe(404);
    await operator("DELETE", `/orders/${kept}`);
    expect((await (await undo(kept))()).status).toBe(409);
    for (const id of ["999999999", "x"])
      expect((await operator("POST", `/audit/${id}/undo`)).status).toBe(404);
  });
});
