/** Reads from replicas (ADR-19): what a key's holder and an operator see, however the replicas lag. */

import { abortAllDurableObjects } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import type { LimiterCall } from "hono-durable-limiter";
import { beforeAll, describe, type ExpectStatic, it } from "vitest";
import { runs } from "../../support/deep.ts";
import { createKey, insertOrders, newOrderId, type TestKey } from "../../support/factories.ts";
import { seededRandom } from "../../support/random.ts";
import { ReplicatedDatabase } from "../../support/replicated-database.ts";
import { type App, LIST, limiterOf, limiters, log, startApp, watchLimiters } from "../../support/worker.ts";
import { operatorOf } from "../admin/admin-support.ts";

let database: ReplicatedDatabase;
beforeAll(async () => {
  database = await ReplicatedDatabase.create();
});

function replicated() {
  return { DB: database.binding, D1_READ_REPLICATION: "auto" };
}

function startIsolates(count: number): App[] {
  return Array.from({ length: count }, () => startApp(replicated()));
}

const ISOLATES = 3;
const KEYS = 2;
const ORDERS = 8;

const isolate = fc.nat(ISOLATES - 1);
const key = fc.nat(KEYS - 1);
const order = fc.nat(ORDERS - 1);

const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant("list" as const), isolate, key }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("listInTurn" as const), key }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("cancel" as const), isolate, key, order }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("listAtOnce" as const), key, order }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("load" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("ship" as const), order }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("limit" as const), isolate, key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("disable" as const), isolate, key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("failReplicas" as const), reads: fc.nat(1) }) }, // two would be a 503
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

type Model = {
  readonly keys: readonly (TestKey & { readonly gone: Set<string>; limit: number })[];
  readonly orders: readonly string[];
  readonly isolates: readonly App[];
};

async function start(): Promise<Model> {
  await env.DB.prepare("delete from orders").run();
  const orders = Array.from({ length: ORDERS }, newOrderId);
  await insertOrders(...orders.map((id) => ({ id })));
  const keys = await Promise.all(
    Array.from({ length: KEYS }, () => createKey({ perMinute: 9_000, perDay: 9_000 })),
  );
  await database.replicate();
  const fresh = keys.map((each) => ({ ...each, gone: new Set<string>(), limit: 9_000 }));
  return { keys: fresh, orders, isolates: startIsolates(ISOLATES) };
}

async function list(app: App, { key }: TestKey): Promise<{ ids: string[]; limit: string }> {
  const response = await app(LIST, { key });
  const orders = await response.json<{ id: number }[]>();
  return {
    ids: orders.map(({ id }) => String(id)),
    limit: /q=(\d+);w=60/.exec(response.headers.get("RateLimit-Policy") ?? "")?.[1] ?? "",
  };
}

async function listAndCheck(expect: ExpectStatic, model: Model, app: App, keyNumber: number): Promise<void> {
  const key = at(model.keys, keyNumber);
  const gone = [...key.gone];
  const { ids, limit } = await list(app, key);
  expect(
    ids.filter((id) => gone.includes(id)),
    "an order that the key cancelled is back",
  ).toEqual([]);
  expect(limit).toBe(String(key.limit));
}

function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new Error(`no item ${index}`);
  return item;
}

async function run(expect: ExpectStatic, model: Model, next: Step): Promise<void> {
  const operate = operatorOf(startIsolates(1)[0] as App); // one was started
  switch (next.do) {
    case "list":
      return listAndCheck(expect, model, at(model.isolates, next.isolate), next.key);
    case "listInTurn": {
      for (const app of [...model.isolates, ...model.isolates])
        await listAndCheck(expect, model, app, next.key);
      return;
    }
    case "listAtOnce": {
      const cancelled = cancel(expect, model, at(model.isolates, 0), 1 - next.key, next.order);
      await Promise.all(model.isolates.map((app) => listAndCheck(expect, model, app, next.key)));
      return cancelled;
    }
    case "cancel":
      return cancel(expect, model, at(model.isolates, next.isolate), next.key, next.order);
    case "load": {
      const id = newOrderId();
      const loaded = await operate("PUT", "/orders", `[{"id":${id}}]`);
      expect(loaded.body).toMatchObject({ inserted: 1 });
      expect((await operate("GET", `/orders/${id}`)).status).toBe(200);
      return;
    }
    case "ship": {
      const path = `/orders/${at(model.orders, next.order)}`;
      const changed = await operate("PATCH", path, { status: "shipped", quantity: 7 });
      if (changed.status === 404) return;
      expect((await operate("GET", path)).body).toMatchObject({ quantity: 7 });
      return;
    }
    case "limit": {
      const changed = at(model.keys, next.key);
      changed.limit++;
      const { body } = await operate("PATCH", `/keys/${changed.id}`, { requestsPerMinute: changed.limit });
      expect(body.effective).toBe("immediately");
      return listAndCheck(expect, model, at(model.isolates, next.isolate), next.key);
    }
    case "disable": {
      const { id, key } = at(model.keys, next.key);
      const app = at(model.isolates, next.isolate);
      await operate("PATCH", `/keys/${id}`, { disabled: true });
      expect((await app(LIST, { key })).status).toBe(401);
      await operate("PATCH", `/keys/${id}`, { disabled: false });
      expect((await app("/v1/none", { key })).status).toBe(404);
      return;
    }
    case "failReplicas":
      database.failReplicas(next.reads);
  }
}

async function cancel(
  expect: ExpectStatic,
  { keys, orders }: Model,
  app: App,
  keyNumber: number,
  orderNumber: number,
): Promise<void> {
  const { key, gone } = at(keys, keyNumber);
  const id = at(orders, orderNumber);
  const { status } = await app(`${LIST}/${id}`, { method: "DELETE", key });
  expect([204, 404, 409]).toContain(status);
  if (gone.has(id)) expect(status).toBe(404);
  if (status !== 409) gone.add(id);
}

describe("with read replication", () => {
  it("no key sees its own cancel undone, and every operator's change holds at once", async ({ expect }) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 20, maxLength: 40 }),
        fc.integer(),
        async (steps, seed) => {
          database.random = seededRandom(seed);
          const model = await start();
          for (const next of steps) await run(expect, model, next);
        },
      ),
      { numRuns: runs(2) },
    );
    expect(database.readsOfOldStates).toBeGreaterThan(5);
  });

  it("a list that the client has is a 304, whichever copies answer", async ({ expect }) => {
    const { key } = await createKey();
    await database.replicate();
    database.random = seededRandom(1);
    const operate = operatorOf(startApp(replicated()));
    let unchanged = 0;
    for (let round = 0; round < 5; round++) {
      await operate("PUT", "/orders", `[{"id":${newOrderId()}}]`);
      const known = (await startApp()(LIST, { key })).headers.get("ETag") ?? "none";
      for (const app of startIsolates(3)) {
        const { status, headers } = await app(LIST, { key, headers: { "If-None-Match": known } });
        expect(status).toBe(headers.get("ETag") === known ? 304 : 200);
        if (status === 304) unchanged++;
      }
    }
    expect(unchanged).toBeGreaterThan(2);
  });

  it("the lists of an isolate never go back", async ({ expect }) => {
    const { key } = await createKey();
    await database.replicate();
    database.random = seededRandom(1);
    const [operate, app] = [operatorOf(startApp(replicated())), startApp(replicated())];
    const revisions: number[] = [];
    for (let round = 0; round < 30; round++) {
      if (round % 3 === 0) await operate("PUT", "/orders", `[{"id":${newOrderId()}}]`);
      const etag = (await app(LIST, { key })).headers.get("ETag") ?? "";
      revisions.push(Number(/\d+/.exec(etag)?.[0]));
    }
    expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
    expect(new Set(revisions).size).toBeGreaterThan(3);
  });

  it("a list costs one call of the key's object, and a cancel two, as the object remembers it", async ({
    expect,
  }) => {
    const { key } = await createKey();
    const id = newOrderId();
    await insertOrders({ id });
    await database.replicate();
    const limiters = watchLimiters();
    const app = startApp({ ...replicated(), ...limiters });
    const callsOf = async (request: () => Promise<Response>) => {
      limiters.addressed();
      await (await request()).arrayBuffer();
      return limiters.addressed().length;
    };
    const list = () => app(LIST, { key });
    expect([await callsOf(list), await callsOf(list)]).toEqual([1, 1]);
    expect(await callsOf(() => app(`${LIST}/${id}`, { method: "DELETE", key }))).toBe(2);
    expect(await callsOf(list)).toBe(1);
  });

  it("a key that was answered 404 for a cancelled order reads no list that has it", async ({ expect }) => {
    const [{ key: canceller }, { key }] = [await createKey(), await createKey()];
    const id = newOrderId();
    await insertOrders({ id });
    await database.replicate();
    database.random = () => 0;
    const apps = startIsolates(3);
    const cancelBy = (app: App, by: string) => app(`${LIST}/${id}`, { method: "DELETE", key: by });
    expect((await cancelBy(at(apps, 0), canceller)).status).toBe(204);
    expect((await cancelBy(at(apps, 1), key)).status).toBe(404);
    const orders = await (await at(apps, 2)(LIST, { key })).json<{ id: number }[]>();
    expect(orders.map((order) => String(order.id))).not.toContain(id);
  });

  it.for(["D1_ERROR: Network connection lost.", "D1_ERROR: no such column: quantity: SQLITE_ERROR"])(
    "a replica that fails is replaced by the primary: %s",
    async (message, { expect }) => {
      const { key } = await createKey();
      await database.replicate();
      database.random = () => 0;
      database.failReplicas(1, message);
      expect((await startApp(replicated())(LIST, { key })).status).toBe(200);
      expect(log.lines().filter(({ event }) => event === "replica_failed")).toHaveLength(1);
    },
  );

  it("sums of usage are read from the nearest copy, and an operator's change is seen at once", async ({
    expect,
  }) => {
    const { id } = await createKey();
    await database.replicate();
    database.random = () => 0;
    const operate = operatorOf(startApp(replicated()));
    const readsOfReplicas = database.readsOfReplicas;
    await operate("PATCH", `/keys/${id}`, { note: "changed" });
    expect((await operate("GET", `/keys/${id}`)).body.note).toBe("changed");
    expect(database.readsOfReplicas).toBe(readsOfReplicas);
    expect((await operate("GET", "/usage?from=yesterday&to=today")).status).toBe(200);
    expect(database.readsOfReplicas).toBeGreaterThan(readsOfReplicas);
  });

  it("a bookmark from before replication was switched off is not used", async ({ expect }) => {
    const { id, key } = await createKey();
    await limiterOf(id).remember("99999999");
    expect((await startApp()(LIST, { key })).status).toBe(200);
  });

  it("a cancel that the limiter cannot remember is not refused, and its isolate shows it", async ({
    expect,
  }) => {
    const { id, key } = await createKey();
    const order = newOrderId();
    await insertOrders({ id: order });
    await database.replicate();
    database.random = () => 0;
    const limiter = env.KEY_LIMITER.getByName(id);
    const remember = () => Promise.reject(new Error("the object was reset"));
    const stub = { admit: (call: LimiterCall) => limiter.admit(call), remember };
    const app = startApp({ ...replicated(), KEY_LIMITER: limiters(() => stub) });
    expect((await app(`${LIST}/${order}`, { method: "DELETE", key })).status).toBe(204);
    expect(log.text()).toContain("limiter_unreachable");
    const orders = await (await app(LIST, { key })).json<{ id: number }[]>();
    expect(orders.map((each) => String(each.id))).not.toContain(order);
  });
});

describe("a key's object", () => {
  it("remembers the latest bookmark through a crash, and gives it to every isolate", async ({ expect }) => {
    const { id, key } = await createKey();
    const bookmarkOf = async () => {
      const seen: unknown[] = [];
      const KEY_LIMITER = limiters((name) => ({
        admit: async (call: LimiterCall) => {
          const verdict = await limiterOf(name).admit(call);
          seen.push(verdict.kind === "admitted" && verdict.facts.bookmark);
          return verdict;
        },
      }));
      await startApp({ KEY_LIMITER })(LIST, { key });
      return seen;
    };
    expect(await bookmarkOf()).toEqual([undefined]);
    for (const bookmark of ["0005", "0007", "0006"]) await limiterOf(id).remember(bookmark);
    expect(await bookmarkOf()).toEqual(["0007"]);
    await abortAllDurableObjects();
    expect(await bookmarkOf()).toEqual(["0007"]);
  });
});
