/** Reads from replicas (ADR-19): what a key, the holder of a changed key and an operator see, however the replicas lag. */
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { afterEach, beforeAll, beforeEach, describe, type ExpectStatic, it, vi } from "vitest";
import type { Bindings } from "../../../src/worker/context.ts";
import type { Call } from "../../../src/worker/limiter/core/decide.ts";
import { createKey, insertOrders, newOrderId, type TestKey } from "../../support/factories.ts";
import { ReplicatedDatabase } from "../../support/replicated-database.ts";
import {
  type App,
  admit,
  admitAtOnce,
  BUSINESS,
  captureLog,
  crash,
  firstReport,
  freshLimiter,
  LIST,
  limiterOf,
  operatorBan,
  PRO,
  setClock,
  startApp,
  storedState,
  watchLimiters,
} from "../../support/worker.ts";
import { operatorOf } from "../admin/admin-support.ts";

let database: ReplicatedDatabase;
let log: ReturnType<typeof captureLog>;
beforeAll(async () => {
  database = await ReplicatedDatabase.create();
});
beforeEach(() => {
  log = captureLog();
});
afterEach(() => {
  log.restore();
  vi.useRealTimers();
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
  { weight: 4, arbitrary: fc.record({ do: fc.constant("import" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("ship" as const), order }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("limit" as const), isolate, key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("disable" as const), isolate, key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("failReplicas" as const), reads: fc.nat(2) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Numbers from 0 to 1 from a seed (mulberry32), so that a failure can be repeated. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Model = {
  readonly keys: readonly (TestKey & { lastRevision: number; readonly gone: Set<string>; limit: number })[];
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
  const fresh = keys.map((each) => ({ ...each, lastRevision: 0, gone: new Set<string>(), limit: 9_000 }));
  return { keys: fresh, orders, isolates: startIsolates(ISOLATES) };
}

/** At its revision, the list as the change feed of the primary has it. */
async function listAt(revision: number): Promise<string[]> {
  const { results } = await env.DB.prepare(
    `with changed as (select order_id as id, min(revision) as first from order_changes where revision > ?1 group by order_id)
     select cast(id as text) as id from orders where id not in (select id from changed)
     union all
     select cast(id as text) from changed join order_changes on revision = first where json_before is not null
     order by 1`,
  )
    .bind(revision)
    .all<{ id: string }>();
  return results.map(({ id }) => id);
}

async function list(app: App, { key }: TestKey): Promise<{ revision: number; ids: string[]; limit: string }> {
  const response = await app(LIST, { key });
  const orders = await response.json<{ id: number }[]>();
  return {
    revision: Number(/^"(\d+)-/.exec(response.headers.get("ETag") ?? "")?.[1]),
    ids: orders.map(({ id }) => String(id)),
    limit: /q=(\d+);w=60/.exec(response.headers.get("RateLimit-Policy") ?? "")?.[1] ?? "",
  };
}

async function listAndCheck(
  expect: ExpectStatic,
  model: Model,
  app: App,
  keyNumber: number,
): Promise<number> {
  const key = at(model.keys, keyNumber);
  const before = key.lastRevision;
  const gone = [...key.gone];
  const { revision, ids, limit } = await list(app, key);
  expect(revision, "the list went back in revision").toBeGreaterThanOrEqual(before);
  expect(ids).toEqual(await listAt(revision));
  expect(
    ids.filter((id) => gone.includes(id)),
    "an order that the key cancelled is back",
  ).toEqual([]);
  expect(limit).toBe(String(key.limit));
  return revision;
}

function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new Error(`no item ${index}`);
  return item;
}

async function run(expect: ExpectStatic, model: Model, next: Step): Promise<void> {
  const operate = operatorOf(startIsolates(1)[0] as App); // one was started
  switch (next.do) {
    case "list": {
      const revision = await listAndCheck(expect, model, at(model.isolates, next.isolate), next.key);
      at(model.keys, next.key).lastRevision = revision;
      return;
    }
    case "listInTurn": {
      for (const app of [...model.isolates, ...model.isolates]) {
        at(model.keys, next.key).lastRevision = await listAndCheck(expect, model, app, next.key);
      }
      return;
    }
    case "listAtOnce": {
      const cancelled = cancel(expect, model, at(model.isolates, 0), 1 - next.key, next.order);
      const lists = model.isolates.map((app) => listAndCheck(expect, model, app, next.key));
      const revisions = await Promise.all(lists);
      await cancelled;
      at(model.keys, next.key).lastRevision = Math.max(...revisions);
      return;
    }
    case "cancel":
      return cancel(expect, model, at(model.isolates, next.isolate), next.key, next.order);
    case "import": {
      const id = newOrderId();
      const imported = await operate("POST", "/orders", `{"id":${id}}\n`);
      expect(imported.body).toMatchObject({ inserted: 1 });
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
      changed.lastRevision = await listAndCheck(expect, model, at(model.isolates, next.isolate), next.key);
      return;
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
  it("no key sees its own cancel undone or a list go back, and every operator's change holds at once", async ({
    expect,
  }) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 20, maxLength: 40 }),
        fc.integer(),
        async (steps, seed) => {
          database.random = randomFrom(seed);
          const model = await start();
          for (const next of steps) await run(expect, model, next);
        },
      ),
      { numRuns: 4, interruptAfterTimeLimit: 20_000 },
    );
    expect(database.readsOfOldStates).toBeGreaterThan(20);
  });

  it("a key's bookmark costs an object call only where the key sees a change first", async ({ expect }) => {
    const { key } = await createKey({ perMinute: 9_000, perDay: 9_000 });
    await database.replicate();
    const limiters = watchLimiters();
    const app = startApp({ ...replicated(), ...limiters });
    const callsOf = async (request: () => Promise<Response>) => {
      limiters.addressed();
      await (await request()).arrayBuffer();
      return limiters.addressed().length;
    };
    const list = () => app(LIST, { key });
    expect(await callsOf(list), "the first revision that the isolate reads").toBe(2);
    expect(await callsOf(list), "an unchanged list").toBe(1);
    const id = newOrderId();
    await insertOrders({ id });
    await database.replicate();
    expect(await callsOf(list), "a changed list").toBe(2);
    expect(await callsOf(list), "the same again").toBe(1);
    expect(await callsOf(() => app(`${LIST}/${id}`, { method: "DELETE", key })), "a cancel").toBe(2);
    expect(await callsOf(list), "the bookmark of the cancel came with the verdict").toBe(1);
  });

  it("a key that a replica does not have yet is admitted", async ({ expect }) => {
    await database.replicate();
    const { key } = await createKey();
    database.random = () => 0;
    expect((await startApp(replicated())("/v1/none", { key })).status).toBe(404);
  });

  it("a key that a replica still has as disabled is admitted", async ({ expect }) => {
    const { id, key } = await createKey({ status: "disabled" });
    await database.replicate();
    await env.DB.prepare("update api_keys set status = 'active' where id = ?").bind(id).run();
    database.random = () => 0;
    expect((await startApp(replicated())("/v1/none", { key })).status).toBe(404);
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

  it.for(["D1_ERROR: Network connection lost.", "D1_ERROR: no such column: is_ended: SQLITE_ERROR"])(
    "a replica that fails is replaced by the primary: %s",
    async (message, { expect }) => {
      const { key } = await createKey();
      await database.replicate();
      database.random = () => 0;
      database.failReplicas(2, message);
      expect((await startApp(replicated())(LIST, { key })).status).toBe(200);
      expect(log.lines().filter(({ event }) => event === "replica_failed")).toHaveLength(2);
    },
  );

  it("a key that was disabled costs a bounded number of queries, however old the replica is", async ({
    expect,
  }) => {
    const { id, key } = await createKey({ used: true });
    await database.replicate();
    database.random = () => 0;
    const app = startApp(replicated());
    await app("/v1/none", { key });
    await operatorOf(startApp(replicated()))("PATCH", `/keys/${id}`, { disabled: true });
    const readsBefore = database.readsOfReplicas;
    for (let i = 0; i < 20; i++) expect((await app("/v1/none", { key })).status).toBe(401);
    expect(database.readsOfReplicas - readsBefore).toBeLessThanOrEqual(1);
  });

  it("a bookmark from before replication was switched off is not used, and forgotten", async ({ expect }) => {
    const [first, second] = [await createKey(), await createKey()];
    await database.replicate();
    await (await startApp(replicated())(LIST, { key: first.key })).arrayBuffer();
    expect((await storedState(limiterOf(first.id)))?.bookmark).toBeDefined();
    const off = startApp();
    for (const { key } of [first, second]) await (await off(LIST, { key })).arrayBuffer();
    const stored = await Promise.all([first, second].map(({ id }) => storedState(limiterOf(id))));
    expect(stored.map((each) => each?.bookmark)).toEqual([undefined, undefined]);
  });

  it("a list of a restored database raises the bookmark, also if its revision has the number of an earlier one", async ({
    expect,
  }) => {
    const { id, key } = await createKey();
    await insertOrders({ id: newOrderId() });
    await database.replicate();
    const app = startApp(replicated());
    const bookmarkAfterList = async () => {
      await (await app(LIST, { key })).arrayBuffer();
      return (await storedState(limiterOf(id)))?.bookmark ?? "";
    };
    const before = await bookmarkAfterList();
    await env.DB.exec(
      "update order_changes set token = 'restored' where revision = (select max(revision) from order_changes)",
    );
    await database.replicate();
    expect(Number(await bookmarkAfterList())).toBeGreaterThan(Number(before));
  });

  it("a limiter that cannot keep the bookmark delays the list but does not refuse it", async ({ expect }) => {
    const { id, key } = await createKey();
    await database.replicate();
    const limiter = env.KEY_LIMITER.getByName(id);
    const raiseBookmark = () => Promise.reject(new Error("the object was reset"));
    const stub = { admit: (call: Call) => limiter.admit(call), raiseBookmark };
    // The app uses these members only.
    const KEY_LIMITER = { getByName: () => stub } as unknown as Bindings["KEY_LIMITER"];
    expect((await startApp({ ...replicated(), KEY_LIMITER })(LIST, { key })).status).toBe(200);
    expect(log.text()).toContain("limiter_unreachable");
  });
});

describe("the limiter", () => {
  it("keeps a key's latest bookmark through a crash, and gives it to every isolate", async ({ expect }) => {
    const limiter = freshLimiter();
    await admit(limiter, PRO, { bookmark: "0005" });
    await limiter.raiseBookmark(limiter.name ?? "", "0007");
    await limiter.raiseBookmark(limiter.name ?? "", "0006");
    const verdict = await admit(await crash(limiter), PRO, { bookmark: "0004" });
    expect(verdict).toMatchObject({ kind: "admitted", bookmark: "0007" });
  });

  it("stores a bookmark that came with an admitted request", async ({ expect }) => {
    const limiter = freshLimiter();
    for (const bookmark of ["0001", "0002", "0003", "0004", "0009"])
      await admit(limiter, BUSINESS, { bookmark });
    expect(await admit(await crash(limiter), BUSINESS)).toMatchObject({ bookmark: "0009" });
  });

  it("stores no bookmark with the counts of a day that has ended", async ({ expect }) => {
    const midnight = Date.UTC(2031, 0, 2);
    const limiter = freshLimiter();
    setClock(midnight - 1_000);
    await admit(limiter, PRO);
    await firstReport(limiter);
    setClock(midnight);
    await admit(limiter, PRO, { operatorBan: operatorBan(60_000) });
    await limiter.raiseBookmark(limiter.name ?? "", "0001");
    expect((await storedState(limiter))?.counts.day).toEqual({ startMs: midnight, used: 0 });
  });

  it("loses no reservation when it stores a bookmark", async ({ expect }) => {
    const limiter = freshLimiter();
    await admitAtOnce(limiter, BUSINESS, 50);
    const reserved = (await storedState(limiter))?.counts.minute.used ?? 0;
    await limiter.raiseBookmark(limiter.name ?? "", "0001");
    expect((await storedState(limiter))?.counts.minute.used).toBe(reserved);
  });
});
