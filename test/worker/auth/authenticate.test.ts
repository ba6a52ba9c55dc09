/** What authenticating a request needs and costs: queries of D1, calls of the key's object, rows written. */
import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { createKey } from "../../support/factories.ts";
import { inventKey, SET_MAC_KEY } from "../../support/mint.ts";
import {
  LIST,
  limiterOf,
  log,
  setClock,
  startApp,
  startEachTestAt,
  watchDatabase,
  watchLimiters,
  watchPolicyLoads,
} from "../../support/worker.ts";
import { operatorOf } from "../admin/admin-support.ts";

const NONE = "/v1/nothing";
const T0 = Date.UTC(2033, 0, 1, 12);
const SECONDS = 1_000;
const HOURS = 3_600 * SECONDS;
const AWAY = "D1_ERROR: Network connection lost.";

startEachTestAt(T0);

/** An isolate that has the MAC keys, whose queries and calls of objects are recorded. */
async function startWatchedApp() {
  const database = watchDatabase();
  const limiters = watchLimiters();
  const app = startApp({ DB: database.DB, KEY_LIMITER: limiters.KEY_LIMITER });
  await app(NONE, { key: await inventKey() });
  database.queries();
  return { app, queries: database.queries, calls: limiters.addressed };
}

describe("a key that the service has not made", () => {
  it("costs no query and no call of an object, whichever character is wrong", async ({ expect }) => {
    const { app, queries, calls } = await startWatchedApp();
    const { key } = await createKey();
    const changed = Array.from(key, (character, at) => {
      const other = character === "q" ? "r" : "q";
      return key.slice(0, at) + other + key.slice(at + 1);
    });
    for (const wrong of [...changed, await inventKey(), "abc", `${key}0`, key.slice(1), key.toLowerCase()]) {
      expect((await app(LIST, { key: wrong })).status, wrong).toBe(401);
    }
    expect([queries(), calls()]).toEqual([[], []]);
  });
});

describe("a table of MAC keys that is empty, as in the middle of a restore", () => {
  it("is an error, and no key is called invalid", async ({ expect }) => {
    const { key } = await createKey();
    const app = startApp();
    await env.DB.exec("delete from mac_keys");
    expect((await app(NONE, { key })).status).toBe(500);
    await env.DB.exec(`insert into mac_keys (key) values (hex(zeroblob(32)))`);
    await env.DB.exec(SET_MAC_KEY);
    expect((await app(NONE, { key })).status).toBe(404);
  });
});

describe("a MAC key that is replaced", () => {
  it("signs new keys, and the old one's keys are valid until it is deleted", async ({ expect }) => {
    const old = await createKey();
    await env.DB.exec("insert into mac_keys (key) values (hex(zeroblob(32)))");
    const issued = await operatorOf(startApp())("POST", "/keys", { name: "new", plan: "free" });
    const statuses = async (app = startApp()) => [
      (await app(NONE, { key: old.key })).status,
      (await app(NONE, { key: String(issued.body.key) })).status,
    ];
    expect(await statuses()).toEqual([404, 404]);
    await env.DB.exec("delete from mac_keys where id = (select min(id) from mac_keys)");
    expect(await statuses()).toEqual([401, 404]);
    await env.DB.exec(SET_MAC_KEY);
  });
});

describe("a valid key", () => {
  it("costs one call of its object a request, and D1 one load in ten minutes, however many isolates serve it", async ({
    expect,
  }) => {
    const { id, key } = await createKey();
    const watched = await Promise.all([1, 2, 3].map(startWatchedApp));
    const policy = watchPolicyLoads();
    const askAll = () => Promise.all(watched.map(async ({ app }) => (await app(NONE, { key })).status));
    for (const afterMs of [0, 1, 60 * SECONDS, 600 * SECONDS]) {
      setClock(T0 + afterMs);
      expect(await askAll()).toEqual([404, 404, 404]);
    }
    expect(policy.loads()).toBe(1);
    for (const { queries, calls } of watched) expect([queries(), calls()]).toEqual([[], [id, id, id, id]]);
  });

  it("is admitted at once after ten idle minutes and an eviction, while D1's answers are held", async ({
    expect,
  }) => {
    const { id, key } = await createKey();
    const app = startApp();
    await app(NONE, { key });
    await evictDurableObject(limiterOf(id));
    const policy = watchPolicyLoads();
    const { promise, resolve: release } = Promise.withResolvers<void>();
    policy.wrap(async (query) => {
      await promise;
      return query();
    });
    setClock(T0 + 600 * SECONDS + 1);
    for (let i = 0; i < 5; i++) expect((await app(NONE, { key })).status).toBe(404);
    expect(policy.loads()).toBe(1);
    release();
  });
});

describe("while D1 is away", () => {
  it("an isolate that has no MAC keys yet answers 503 to every key, and recovers", async ({ expect }) => {
    const { key } = await createKey();
    const database = watchDatabase();
    const app = startApp({ DB: database.DB });
    database.failWith(AWAY);
    for (const each of [key, await inventKey()]) {
      const response = await app(NONE, { key: each });
      expect([response.status, response.headers.get("Retry-After")]).toEqual([503, "5"]);
      expect(await response.json()).toEqual({
        code: "service_unavailable",
        message: "The database cannot be reached. Please try again.",
        status: 503,
      });
    }
    database.failWith(undefined);
    expect((await app(NONE, { key })).status).toBe(404);
    expect((await app(NONE, { key: await inventKey() })).status).toBe(401);
  });

  it("a known key is decided and counted for 24 hours, also after an eviction, and then answered 503", async ({
    expect,
  }) => {
    const { id, key } = await createKey({ perMinute: 5 });
    const database = watchDatabase();
    const app = startApp({ DB: database.DB });
    await app(NONE, { key });
    const policy = watchPolicyLoads();
    policy.wrap(() => Promise.reject(new Error(AWAY)));
    database.failWith(AWAY);
    for (const hours of [1, 23]) {
      setClock(T0 + hours * HOURS);
      await evictDurableObject(limiterOf(id));
      for (const [path, status, remaining] of [
        [NONE, 404, "4"],
        [LIST, 503, "3"],
      ] as const) {
        const response = await app(path, { key });
        expect([response.status, response.headers.get("X-RateLimit-Remaining")]).toEqual([status, remaining]);
      }
    }
    expect(log.lines()).toContainEqual(expect.objectContaining({ event: "policy_not_loaded", keyId: id }));
    setClock(T0 + 24 * HOURS + 1);
    const response = await app(NONE, { key });
    expect([response.status, response.headers.get("Retry-After")]).toEqual([503, "5"]);
    expect(await response.json()).toMatchObject({
      code: "service_unavailable",
      message: "The rate limiter cannot be reached. The request may have counted.",
    });
    policy.wrap((query) => query());
    expect((await app(NONE, { key })).status).toBe(404);
  });
});
