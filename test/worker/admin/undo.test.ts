/** `POST /admin/audit/:id/undo`: what an entry says is brought back, unless something has changed since. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { MAX_ORDERS_PER_SHIPMENT } from "../../../src/worker/db/values.ts";
import { createKey, insertOrders, newOrderId } from "../../support/factories.ts";
import { LIST, setClock, startApp } from "../../support/worker.ts";
import { operatorOf, writingAfter } from "./admin-support.ts";

const app = startApp();
const operator = operatorOf(app);

async function undo(object: string, by = operator) {
  const select = env.DB.prepare("select max(id) as id from audit_log where object = ?");
  const id = await select.bind(object).first<number>("id");
  return (body?: unknown, query = "") => by("POST", `/audit/${id}/undo${query}`, body);
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
    const meanwhile = await undo(
      object,
      writingAfter(() => operator("PATCH", path, other)),
    );
    expect(await meanwhile()).toMatchObject({ status: 412 });
    const { status, body } = await late();
    expect([status, body.message]).toEqual([
      409,
      expect.stringContaining(kind === "plan" ? "requests per minute" : "status"),
    ]);
    if (kind === "plan") await operator("PATCH", path, { requestsPerMinute: 300, alertPercents: [80, 100] });
  });

  it("brings back the status of a key that was banned since", async ({ expect }) => {
    const { id } = await createKey();
    for (const disabled of [true, false]) await operator("PATCH", `/keys/${id}`, { disabled });
    const again = await undo(id);
    await operator("PUT", `/keys/${id}/ban`, { seconds: 60, reason: "abuse" });
    expect((await again()).status).toBe(200);
    expect(await keyOf(id)).toMatchObject({ status: "disabled" });
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
    expect(await undoFirst({ together: true })).toMatchObject({ status: 200, body: all });
    const stored = await Promise.all(ids.map((id) => orderOf(id)));
    expect(stored.map((order) => order?.status)).toEqual([
      "pending",
      "processing",
      undefined,
      "delivered",
      "shipped",
      "shipped",
    ]);
    expect((await undoFirst({ together: true })).status).toBe(409);
    expect((await (await undo(second ?? ""))({ together: true })).status).toBe(409); // of another kind
  });

  it("of several keys leaves those that have changed since, and the others of their request", async ({
    expect,
  }) => {
    const keys = await Promise.all([0, 1, 2, 3].map(() => createKey({ plan: "free" })));
    const ids = keys.map(({ id }) => id);
    const [first = "", second = "", changed = "", revoked = ""] = ids;
    await operator("PATCH", `/keys/${second}`, { plan: "business" });
    const planOf = async (id: string) => (await keyOf(id))?.plan;
    await operator("POST", "/keys/plan", { ids, plan: "pro" });
    const undoPlan = await undo(first);
    await operator("PATCH", `/keys/${first}`, { note: "of another member" });
    await operator("PATCH", `/keys/${changed}`, { plan: "free" });
    await operator("DELETE", `/keys/${revoked}`);
    const all = {
      call: "keys.update",
      undone: [first, second].toSorted(),
      left: [changed, revoked].toSorted(),
    };
    const sorted = ({ body }: Awaited<ReturnType<typeof undoPlan>>) => ({
      ...body,
      ...{ undone: (body.undone as string[]).toSorted(), left: (body.left as string[]).toSorted() },
    });
    expect(sorted(await undoPlan({ together: true }, "?dry-run"))).toMatchObject({ ...all, effective: null });
    expect([await planOf(first), await planOf(second)]).toEqual(["pro", "pro"]);
    expect(sorted(await undoPlan({ together: true }))).toMatchObject({ ...all, effective: "immediately" });
    expect(await Promise.all(ids.map(planOf))).toEqual(["free", "business", "free", "pro"]);
    expect((await undoPlan({ together: true })).status).toBe(409);
    await operator("POST", "/keys/disable", { ids: [first, second] });
    const undoDisable = await undo(second);
    await undoDisable({ together: true });
    expect((await Promise.all([first, second].map(keyOf))).map((key) => key?.status)).toEqual([
      "active",
      "active",
    ]);
    // A change of one key with other members is none of several keys.
    await operator("PATCH", `/keys/${first}`, { plan: "pro", requestsPerMinute: 7 });
    expect((await (await undo(first))({ together: true })).status).toBe(409);
  });

  it("is possible as long as no later change has the same member, and the object is there", async ({
    expect,
  }) => {
    const [kept, gone, both] = [newOrderId(), newOrderId(), newOrderId()];
    await insertOrders({ id: kept }, { id: gone }, { id: both });
    const ofOrder = async (id: string) =>
      ((await operator("GET", `/audit?object=${id}`)).body.audit as { undoable: boolean }[]).map(
        (each) => each.undoable,
      );
    await operator("PATCH", `/orders/${kept}`, { quantity: 1 });
    await operator("PATCH", `/orders/${kept}`, { complete: true });
    await operator("PATCH", `/orders/${both}`, { quantity: 1, complete: false });
    await operator("PATCH", `/orders/${both}`, { quantity: null });
    await operator("PATCH", `/orders/${gone}`, { quantity: 1 });
    expect([await ofOrder(kept), await ofOrder(both), await ofOrder(gone)]).toEqual([
      [true, true],
      [true, false],
      [true],
    ]);
    await env.DB.prepare("delete from orders where id = ?").bind(gone).run();
    expect(await ofOrder(gone)).toEqual([false]);
    await operator("PUT", "/orders", `[{"id":${kept},"quantity":5}]`);
    const load = async () => (await ofOrder("orders"))[0];
    expect(await load()).toBe(true);
    await (await undo("orders"))();
    // The undo is an entry, too, which cannot be undone.
    expect((await ofOrder("orders")).slice(0, 2)).toEqual([false, false]);
  });

  it("of the largest shipment is one change of each order", async ({ expect }) => {
    const ids = Array.from({ length: MAX_ORDERS_PER_SHIPMENT }, newOrderId);
    await insertOrders(...ids.map((id) => ({ id })));
    await operator("POST", "/orders/ship", { ids });
    const { body } = await (await undo(ids[0] ?? ""))({ together: true });
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

describe("an undo of a load", () => {
  const load = (query: string, ...orders: readonly object[]) =>
    operator("PUT", `/orders${query}`, JSON.stringify(orders));
  const all = (...ids: readonly string[]) => Promise.all(ids.map((id) => orderOf(id)));

  it("brings back all batches of the file, with all digits, and deletes what was inserted", async ({
    expect,
  }) => {
    const [old, empty, same, fresh, later] = [
      newOrderId(),
      newOrderId(),
      newOrderId(),
      newOrderId(),
      newOrderId(),
    ];
    await insertOrders(
      {
        id: old,
        petId: "9223372036854775807",
        quantity: "9007199254740993",
        shipDate: "2035-01-02T03:04:05.678Z",
      },
      { id: empty, status: "shipped" },
      { id: same },
    );
    await env.DB.prepare("update orders set complete = 0 where id = ?").bind(old).run();
    const before = await all(old, empty, same, fresh, later);
    await load(
      "?file=a.csv&load=one",
      { id: old, petId: null, quantity: 1, shipDate: null, complete: true },
      { id: fresh },
    );
    const { id, petId, quantity } = { id: empty, petId: 5, quantity: 6 };
    await load(
      "?file=a.csv&load=one&allow-backwards",
      { id, petId, quantity, status: "pending" },
      { id: same },
      { id: later },
    );
    const loaded = await all(old, empty, same, fresh, later);
    const again = await undo("orders");
    const figures = { restored: 2, removed: 2, changed: 0, waiting: 0 };
    const answer = { call: "orders.load", undone: [], left: [], effective: null, load: figures };
    expect((await again(undefined, "?dry-run")).body).toEqual(answer);
    expect(await all(old, empty, same, fresh, later)).toEqual(loaded);
    expect((await again()).body).toEqual(answer);
    expect(await all(old, empty, same, fresh, later)).toEqual(before);
    expect((await again()).status).toBe(409);
    // Clients see a change of each order, so their lists are not out of date.
    const changes = await env.DB.prepare("select count(*) as n from order_changes where order_id = ?")
      .bind(fresh)
      .first("n");
    expect(changes).toBe(2);
  });

  it("of more than 40 batches goes on with the next call, and by the entry of any batch", async ({
    expect,
  }) => {
    const ids = Array.from({ length: 41 }, newOrderId);
    await insertOrders(...ids.map((id) => ({ id })));
    for (const id of ids) await load("?load=long", { id, quantity: 7 });
    const again = await undo("orders");
    const figures = async () => (await again()).body.load;
    expect(await figures()).toEqual({ restored: 40, removed: 0, changed: 0, waiting: 1 });
    expect((await all(...ids)).map((order) => order?.quantity)).toEqual([7, ...Array(40).fill(null)]);
    expect(await figures()).toEqual({ restored: 1, removed: 0, changed: 0, waiting: 0 });
    expect((await again()).status).toBe(409);
  });

  it("is of the load itself, also if retention has emptied the audit log and ids come again", async ({
    expect,
  }) => {
    const id = newOrderId();
    await insertOrders({ id, quantity: "3" });
    await env.DB.exec("insert into loads select max(id) + 1, 'earlier', 0, '[]' from audit_log");
    expect((await load("", { id, quantity: 7 })).status).toBe(200);
    expect((await (await undo("orders"))()).status).toBe(200);
    expect((await orderOf(id))?.quantity).toBe(3);
  });

  it("leaves each order that somebody has changed since, also one with the version of the load", async ({
    expect,
  }) => {
    setClock(Date.UTC(2036, 0)); // the cancels come in the second of the load
    const ids = Array.from({ length: 7 }, newOrderId);
    const { key } = await createKey();
    const [, changed = "", loaded, deleted = "", cancelled = "", back = ""] = ids;
    await insertOrders(...ids.slice(0, 3).map((id) => ({ id })));
    await load("?file=a.csv", ...ids.map((id) => ({ id, quantity: 7 })));
    const again = await undo("orders");
    await operator("PATCH", `/orders/${changed}`, { quantity: 8 });
    await load("", { id: loaded, quantity: 9 });
    await operator("DELETE", `/orders/${deleted}`);
    for (const id of [cancelled, back]) await app(`${LIST}/${id}`, { method: "DELETE", key });
    await load("?restore-cancelled", { id: back, quantity: 7 }, { id: deleted, quantity: 7 });
    const { body } = await again();
    expect(body.load).toEqual({ restored: 1, removed: 1, changed: 5, waiting: 0 });
    expect((body.left as string[]).toSorted()).toEqual(
      [changed, loaded, deleted, cancelled, back].toSorted(),
    );
    const stored = await all(...ids);
    expect(stored.map((order) => order?.quantity)).toEqual([null, 8, 9, 7, undefined, 7, undefined]);
  });
});
