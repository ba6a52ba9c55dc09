import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { addSecret, createKey } from "../../support/factories.ts";
import { captureLog, guess, startApp, watchDatabase, watchLimiters } from "../../support/worker.ts";

const LIST = "/v1/store/orders";

let log: ReturnType<typeof captureLog>;
beforeEach(() => {
  log = captureLog();
});
afterEach(() => {
  log.restore();
  vi.useRealTimers();
});

function inSeconds(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}

async function setKey(id: string, assignment: string): Promise<void> {
  await env.DB.prepare(`update api_keys set ${assignment} where id = ?`).bind(id).run();
}

describe("a request without a valid key", () => {
  it("causes no query if its shape or checksum is wrong, for any changed character", async ({ expect }) => {
    const database = watchDatabase();
    const limiters = watchLimiters();
    const app = startApp({ DB: database.DB, KEY_LIMITER: limiters.KEY_LIMITER });
    const { key } = await createKey();
    const changed = Array.from(key, (character, at) => {
      const other = character === "q" ? "r" : "q";
      return key.slice(0, at) + other + key.slice(at + 1);
    });
    for (const wrong of [...changed, "abc", `${key}0`, key.slice(1), key.toLowerCase()]) {
      expect((await app(LIST, { key: wrong })).status, wrong).toBe(401);
    }
    expect(database.queries()).toEqual([]);
    expect(limiters.addressed()).toEqual([]);
  });

  it("creates no Durable Object if its key is unknown, and causes one query each time", async ({
    expect,
  }) => {
    const database = watchDatabase();
    const limiters = watchLimiters();
    const app = startApp({ DB: database.DB, KEY_LIMITER: limiters.KEY_LIMITER });
    const objectsBefore = (await listDurableObjectIds(env.KEY_LIMITER)).length;
    const key = guess();
    for (let i = 0; i < 3; i++) expect((await app(LIST, { key })).status).toBe(401);
    expect(database.queries()).toHaveLength(3);
    expect(limiters.addressed()).toEqual([]);
    expect(await listDurableObjectIds(env.KEY_LIMITER)).toHaveLength(objectsBefore);
  });
});

describe("a valid key", () => {
  it("causes a query and a write the first time, and then one limiter call and no query", async ({
    expect,
  }) => {
    const database = watchDatabase();
    const limiters = watchLimiters();
    const app = startApp({ DB: database.DB, KEY_LIMITER: limiters.KEY_LIMITER });
    const { id, key } = await createKey();
    await app("/v1/nothing", { key });
    expect(database.queries()).toEqual([expect.stringMatching(/^select/), expect.stringMatching(/^update/)]);
    expect(limiters.addressed()).toEqual([id]);
    for (let i = 0; i < 3; i++) expect((await app("/v1/nothing", { key })).status).toBe(404);
    expect(database.queries()).toEqual([]);
    expect(limiters.addressed()).toEqual([id, id, id]);
  });

  it("is read again after 60 seconds", async ({ expect }) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const database = watchDatabase();
    const app = startApp({ DB: database.DB });
    const { key } = await createKey();
    await startApp()("/v1/nothing", { key });
    await app("/v1/nothing", { key });
    vi.setSystemTime(Date.now() + 59_999);
    await app("/v1/nothing", { key });
    expect(database.queries()).toHaveLength(1);
    vi.setSystemTime(Date.now() + 1);
    await app("/v1/nothing", { key });
    expect(database.queries()).toHaveLength(1);
  });

  it("is read again 60 seconds after the start of its query, however long the query took", async ({
    expect,
  }) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const database = watchDatabase();
    let answerTakesMs = 5_000;
    const prepare = (sql: string) => {
      vi.setSystemTime(Date.now() + answerTakesMs);
      return database.DB.prepare(sql);
    };
    const app = startApp({ DB: { prepare } as unknown as D1Database }); // a lookup uses this member only
    const { key } = await createKey();
    await startApp()("/v1/nothing", { key });
    await app("/v1/nothing", { key });
    answerTakesMs = 0;
    vi.setSystemTime(Date.now() + 55_000);
    await app("/v1/nothing", { key });
    expect(database.queries()).toHaveLength(2);
  });

  it("shares its record with every other secret of the same key", async ({ expect }) => {
    const limiters = watchLimiters();
    const app = startApp({ KEY_LIMITER: limiters.KEY_LIMITER });
    const { id, key } = await createKey();
    const rotated = await addSecret(id);
    for (const secret of [key, rotated]) expect((await app("/v1/nothing", { key: secret })).status).toBe(404);
    expect(new Set(limiters.addressed())).toEqual(new Set([id]));
  });
});

describe("a key that expires or changes", () => {
  it("is still valid with its other secret after one secret has expired", async ({ expect }) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const app = startApp();
    const expiresAt = inSeconds(20);
    const { id, key } = await createKey({ expiresAt: inSeconds(500) });
    const retired = await addSecret(id, expiresAt);
    expect((await app(LIST, { key: retired })).status).toBe(200);
    vi.setSystemTime(expiresAt * 1000 - 1);
    expect((await app(LIST, { key: retired })).status).toBe(200);
    vi.setSystemTime(expiresAt * 1000);
    expect((await app(LIST, { key: retired })).status).toBe(401);
    expect((await app(LIST, { key })).status).toBe(200);
  });

  it("expires also for a secret with a later expiry", async ({ expect }) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const app = startApp();
    const expiresAt = inSeconds(20);
    const { id } = await createKey({ expiresAt });
    const longer = await addSecret(id, expiresAt + 100);
    expect((await app(LIST, { key: longer })).status).toBe(200);
    vi.setSystemTime(expiresAt * 1000);
    expect((await app(LIST, { key: longer })).status).toBe(401);
  });

  it("is refused within 60 seconds after a change with plain SQL, and at once if it is not cached", async ({
    expect,
  }) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const [cached, fresh] = [startApp(), startApp()];
    const { id, key } = await createKey();
    expect((await cached(LIST, { key })).status).toBe(200);
    await setKey(id, "status = 'revoked'");
    expect((await fresh(LIST, { key })).status).toBe(401);
    vi.setSystemTime(Date.now() + 60_000);
    expect((await cached(LIST, { key })).status).toBe(401);
  });

  it("is read again by an isolate with an old record as soon as another isolate has used a newer one", async ({
    expect,
  }) => {
    const [old, other] = [startApp(), startApp()];
    const { id, key } = await createKey();
    expect((await old(LIST, { key })).headers.get("RateLimit-Policy")).toContain("q=1000;w=60");
    await setKey(id, "requests_per_minute = 7");
    expect((await other(LIST, { key })).headers.get("RateLimit-Policy")).toContain("q=7;w=60");
    expect((await old(LIST, { key })).headers.get("RateLimit-Policy")).toContain("q=7;w=60");
  });
});
