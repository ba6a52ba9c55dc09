/** `POST /admin/audit/:id/undo` of large, odd and late changes. Any history of changes: undo.property.test.ts. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import type { AuditView } from "../../../src/worker/admin/audit/schema.ts";
import { MAX_ORDERS_PER_SHIPMENT } from "../../../src/worker/db/values.ts";
import { createKey, insertOrders, newOrderId } from "../../support/factories.ts";
import { setClock, startApp } from "../../support/worker.ts";
import { banByStrikes, operatorOf, untilStored, writingAfter } from "./admin-support.ts";

const app = startApp();
const operator = operatorOf(app);
const ada = operatorOf(app, "ada");
const NOON = Date.UTC(2036, 0, 1, 12);

async function undo(object: string, by = operator) {
  const select = env.DB.prepare("select max(id) as id from audit_log where object = ?");
  const id = await select.bind(object).first<number>("id");
  return (body?: unknown, query = "") => by("POST", `/audit/${id}/undo${query}`, body);
}

const newOrders = async (count: number) => {
  const ids = Array.from({ length: count }, newOrderId);
  await insertOrders(...ids.map((id) => ({ id })));
  return ids;
};
const statusesOf = async (ids: readonly string[]) => {
  const { results } = await env.DB.prepare(
    "select distinct status from orders where id in (select value from json_each(?))",
  )
    .bind(JSON.stringify(ids))
    .all<{ status: string }>();
  return results.map(({ status }) => status);
};
const load = (query: string, ids: readonly string[], quantity = 7, by = operator) =>
  by("PUT", `/orders?${query}`, JSON.stringify(ids.map((id) => ({ id, quantity }))));

describe("an undo", () => {
  it("of what another operator changes between its read and its write is a 409", async ({ expect }) => {
    const { id } = await createKey();
    await operator("PATCH", `/keys/${id}`, { disabled: true });
    for (const body of [{}, { together: true }]) {
      const late = await undo(
        id,
        writingAfter(() => operator("PATCH", `/keys/${id}`, { disabled: true })),
      );
      expect(await late(body)).toMatchObject({ status: 409 });
      expect((await operator("GET", `/keys/${id}`)).body.status).toBe("disabled");
    }
  });

  it("of a lift bans again until the end that the ban for strikes had, unless the key is banned again", async ({
    expect,
  }) => {
    setClock(NOON);
    const key = await createKey({ perMinute: 1 });
    const { id } = key;
    await banByStrikes(key, app, NOON);
    await untilStored("select 1 from bans where key_id = ?", id);
    const { lifted } = (await operator("DELETE", `/keys/${id}/ban`)).body;
    const undoLift = await undo(id);
    expect((await undoLift()).status).toBe(200);
    expect((await operator("GET", `/keys/${id}`)).body.bannedUntil).toBe(
      (lifted as { endsAt: string }).endsAt,
    );
    await operator("DELETE", `/keys/${id}/ban`);
    await banByStrikes(key, app, NOON + 60_000);
    await untilStored("select 1 from bans where key_id = ? and lifted_at is null", id);
    expect(await (await undo(id))()).toMatchObject({ status: 409 });
  });

  it("is a 404 without an entry, and a 409 for what no undo can bring back", async ({ expect }) => {
    const { id } = await createKey();
    // As version 2.2 wrote the entry.
    await env.DB.exec(
      `insert into audit_log (at, request_id, actor, call, object, before, after) values (0, '', '', 'keys.update', '${id}', '{"ownerName":"Ada"}', '{"ownerName":"Bo"}'); update api_keys set version = (select max(id) from audit_log) where id = '${id}'`,
    );
    expect(await (await undo(id))()).toMatchObject({ status: 409, body: { code: "conflict" } });
    await operator("DELETE", `/keys/${id}`);
    expect(await (await undo(id))()).toMatchObject({ status: 409, body: { code: "conflict" } });
    for (const entry of ["999999999", "x"])
      expect((await operator("POST", `/audit/${entry}/undo`)).status).toBe(404);
  });
});

describe("a shipment", () => {
  const ship = (ids: readonly string[], shipment: string, by = operator) =>
    by("POST", "/orders/ship", { ids, shipment });

  it("of several calls is undone as one, each order with its entry, and the undo too", async ({ expect }) => {
    const ids = await newOrders(MAX_ORDERS_PER_SHIPMENT + 100);
    await ship(ids.slice(0, MAX_ORDERS_PER_SHIPMENT), "large");
    await ship(ids.slice(MAX_ORDERS_PER_SHIPMENT), "large");
    for (const status of ["pending", "shipped"]) {
      const { body } = await (await undo(ids[0] ?? ""))({ together: true });
      expect([body.undone, body.left, body.waiting]).toEqual([ids, [], 0]);
      expect(await statusesOf(ids)).toEqual([status]);
    }
    const { audit } = (await operator("GET", `/audit?object=${ids.at(-1)}`)).body;
    expect(audit).toMatchObject([{ call: "orders.update", undoable: true }, {}, { call: "orders.ship" }]);
  });

  it("has an id of one operator, for a day, until it is undone", async ({ expect }) => {
    setClock(NOON);
    const [first = "", ...others] = await newOrders(4);
    await ship([first], "mine");
    expect((await ship(others, "mine", ada)).status).toBe(409);
    setClock(NOON + 86_401_000);
    expect((await ship(others, "mine")).status).toBe(409);
    setClock(NOON);
    await (await undo(first))({ together: true });
    expect((await ship(others, "mine")).status).toBe(409);
    expect(await statusesOf(others)).toEqual(["pending"]);
  });
});

describe("a load", () => {
  it("has an id of one file and one operator, for a day, until it is undone", async ({ expect }) => {
    setClock(NOON);
    const [first = "", ...others] = await newOrders(3);
    expect((await load("load=nightly&file=monday.csv", [first])).status).toBe(200);
    for (const refused of [
      await load("load=nightly&file=tuesday.csv", others),
      await load("load=nightly", others),
      await load("load=nightly&file=monday.csv", others, 7, ada),
      await operator("POST", "/orders/ship", { ids: others, shipment: "nightly" }),
    ])
      expect(refused).toMatchObject({ status: 409, body: { code: "conflict" } });
    // The undo of the load has this id: it must undo nothing else.
    expect((await load("load=undo%20nightly", others)).status).toBe(400);
    setClock(NOON + 86_401_000);
    expect((await load("load=nightly&file=monday.csv", others)).status).toBe(409);
    setClock(NOON);
    await (await undo("orders"))();
    // The load goes on, and nothing of it stays.
    expect((await load("load=nightly&file=monday.csv", others)).status).toBe(409);
    const stored = await env.DB.prepare("select count(*) as n from orders where quantity = 7").first("n");
    expect(stored).toBe(0);
  });

  it("of more than 40 batches is undone by the next call, by the entry of any batch", async ({ expect }) => {
    const ids = await newOrders(41);
    for (const id of ids) await load("load=long", [id]);
    const again = await undo("orders");
    const figures = async () => {
      const { load: counts, waiting } = (await again()).body;
      return { ...(counts as object), waiting };
    };
    expect(await figures()).toEqual({ restored: 40, removed: 0, changed: 0, waiting: 1 });
    expect(await figures()).toEqual({ restored: 1, removed: 0, changed: 0, waiting: 0 });
    expect((await again()).status).toBe(409);
  });

  it("that two operators undo at once is undone by one of them", async ({ expect }) => {
    const ids = await newOrders(3);
    await load("", ids);
    const twice = [await undo("orders"), await undo("orders", ada)];
    const answers = await Promise.all(twice.map((again) => again()));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  });

  it("that is undone names its first orders, their status before and after, and what is left", async ({
    expect,
  }) => {
    const [known = ""] = await newOrders(1);
    const [gone = "", ...fresh] = Array.from({ length: 121 }, newOrderId);
    await operator(
      "PUT",
      "/orders?file=a.csv",
      JSON.stringify([{ id: known, status: "shipped" }, ...[...fresh, gone].map((id) => ({ id }))]),
    );
    await operator("DELETE", `/orders/${gone}`);
    const { undone, left } = (await (await undo("orders"))()).body;
    expect([undone, left]).toEqual([expect.objectContaining({ length: 100 }), [gone]]);
    const [entry] = (await operator("GET", "/audit?call=audit.undo&limit=1")).body.audit as AuditView[];
    const { statuses, ...figures } = (entry?.after ?? {}) as { statuses?: object[] };
    expect(figures).toMatchObject({ file: "a.csv", restored: 1, removed: 120 });
    expect(statuses).toHaveLength(100);
    expect(statuses).toContainEqual({ id: Number(known), from: "shipped", to: "pending" });
    expect(statuses).toContainEqual({ id: Number(fresh[0]), from: "pending", to: null });
  });
});

it("a dry run is refused by whatever refuses the change", async ({ expect }) => {
  const { id } = await createKey();
  await operator("PATCH", `/keys/${id}`, { note: "a" });
  await env.DB.exec(
    `create trigger refuses before update on api_keys when old.id = '${id}' begin select raise(abort, 'no'); end`,
  );
  const again = await undo(id);
  const answers = [
    await again({}, "?dry-run"),
    await again(),
    await operator("POST", "/keys/disable?dry-run", { ids: [id] }),
  ];
  await env.DB.exec("drop trigger refuses");
  expect(answers.map(({ status }) => status)).toEqual([500, 500, 500]);
});
