/** Lookups of keys under load, in an outage of D1, and of keys that are not usable. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { LOOKUP_TIMEOUT_MS } from "../../../src/worker/auth/key-lookup.ts";
import type { Bindings } from "../../../src/worker/context.ts";
import type { Call } from "../../../src/worker/limiter/core/decide.ts";
import { createKey } from "../../support/factories.ts";
import {
  type App,
  captureLog,
  countOf,
  guess,
  limiterOf,
  pause,
  setClock,
  startApp,
  watchDatabase,
} from "../../support/worker.ts";
import { wrapStatement } from "../../support/wrap-statement.ts";

beforeEach(() => void captureLog());
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const PATH = "/v1/no-such-path";
/** More than the per-IP limit of 300. */
const BURST = 310;

/** D1 whose queries wait for `wait`. */
function slowDatabase(wait: () => Promise<unknown>): D1Database {
  const slow = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(inner, name) {
        const member: unknown = Reflect.get(inner, name);
        if (typeof member !== "function") return member;
        if (name === "prepare" || name === "bind")
          return (...args: unknown[]) => slow(member.apply(inner, args));
        return async (...args: unknown[]) => {
          await wait();
          return member.apply(inner, args);
        };
      },
    });
  return slow(env.DB);
}

function start(): {
  app: App;
  queries: () => string[];
  failWith: (message: string | undefined) => void;
} {
  const d1 = watchDatabase();
  return { app: startApp({ DB: d1.DB }), queries: d1.queries, failWith: d1.failWith };
}

async function burst(app: App, key: string, size = BURST): Promise<Record<string, number>> {
  const responses = await Promise.all(Array.from({ length: size }, () => app(PATH, { key })));
  return countOf(responses.map(({ status }) => status));
}

describe("a burst with one key on an isolate that does not have it cached", () => {
  it("causes one query and no refusal", async ({ expect }) => {
    const { key } = await createKey({ perMinute: 2_000 });
    const { app, queries } = start();
    await app(PATH, { key: guess() });
    queries();
    expect(await burst(app, key)).toEqual({ 404: BURST });
    expect(queries().filter((sql) => sql.includes("key_secrets"))).toHaveLength(1);
  });

  it("is admitted with one query if D1 takes 1.5 s", async ({ expect }) => {
    const { key } = await createKey({ perMinute: 2_000 });
    await startApp()(PATH, { key });
    const slow = watchDatabase();
    const DB = slowDatabase(() => pause(1_500));
    const prepare = vi.spyOn(env.DB, "prepare");
    expect(await burst(startApp({ DB }), key)).toEqual({ 404: BURST });
    expect(prepare).toHaveBeenCalledOnce();
    expect(slow.queries()).toEqual([]);
  }, 15_000);

  it("shares a 503 and one query while D1 fails", async ({ expect }) => {
    const { key } = await createKey();
    const { app, queries, failWith } = start();
    failWith("D1_ERROR: Network connection lost");
    expect(await burst(app, key)).toEqual({ 503: BURST });
    expect(queries()).toHaveLength(1);
    failWith(undefined);
    expect((await app(PATH, { key })).status).toBe(404);
  });

  it("shares one timeout of a query that never settles, and the next request starts a new query", async ({
    expect,
  }) => {
    const { key } = await createKey();
    let isHanging = true;
    const DB = slowDatabase(() => (isHanging ? new Promise(() => {}) : Promise.resolve()));
    const app = startApp({ DB });
    const startMs = performance.now();
    // Here all requests are one for the runtime, which has its timers one by one.
    expect(await burst(app, key, 100)).toEqual({ 503: 100 });
    expect(performance.now() - startMs).toBeLessThan(LOOKUP_TIMEOUT_MS + 2_000);
    isHanging = false;
    expect((await app(PATH, { key })).status).toBe(404);
  }, 15_000);

  it("causes two queries after a change of the key, because a joined query may be older than the change", async ({
    expect,
  }) => {
    const { id, key } = await createKey({ perMinute: 2_000 });
    const { app, queries } = start();
    await app(PATH, { key });
    await env.DB.prepare("update api_keys set requests_per_minute = 1500 where id = ?").bind(id).run();
    const row = await env.DB.prepare("select version from key_limits where key_id = ?")
      .bind(id)
      .first("version");
    await limiterOf(id).raiseMinVersion(id, Number(row));
    queries();
    expect(await burst(app, key)).toEqual({ 404: BURST });
    expect(queries().length).toBeLessThanOrEqual(2);
  });

  it("with a key that does not exist causes two queries", async ({ expect }) => {
    const { app, queries } = start();
    expect(await burst(app, guess())).toEqual({ 401: BURST });
    expect(queries()).toHaveLength(2);
  });
});

describe("a request that joins a query that began before it", () => {
  it("is not refused by the result of that query", async ({ expect }) => {
    const { id, key } = await createKey({ status: "disabled" });
    const { promise, resolve } = Promise.withResolvers<void>();
    let isFirst = true;
    const read = vi.fn(() => {
      const isHeld = isFirst;
      isFirst = false;
      return isHeld ? promise : Promise.resolve();
    });
    // The rows are read now and returned later.
    const late = watchDatabase();
    const DB = new Proxy(late.DB, {
      get(target, name) {
        if (name !== "prepare") return Reflect.get(target, name);
        return (sql: string) => holdResults(env.DB.prepare(sql), read);
      },
    });
    const app = startApp({ DB });
    const first = app(PATH, { key });
    await pause(50);
    await env.DB.prepare("update api_keys set status = 'active' where id = ?").bind(id).run();
    const second = app(PATH, { key });
    await pause(50);
    resolve();
    expect((await first).status).toBe(401);
    expect((await second).status).toBe(404);
  });
});

describe("a stale record whose reload joins a query older than the last change", () => {
  it("does not take what that query read for a restored database", async ({ expect }) => {
    const { id, key } = await createKey();
    const { promise, resolve } = Promise.withResolvers<void>();
    let isHeld = false;
    const prepare = (sql: string) => {
      const statement = env.DB.prepare(sql);
      if (!isHeld) return statement;
      isHeld = false;
      return holdResults(statement, () => promise);
    };
    // The lookup uses this member only.
    const app = startApp({ DB: { prepare } as unknown as D1Database });
    const change = async (assignment: string) => {
      await env.DB.prepare(`update api_keys set ${assignment} where id = ?`).bind(id).run();
      const row = await env.DB.prepare("select version from key_limits where key_id = ?")
        .bind(id)
        .first("version");
      await limiterOf(id).raiseMinVersion(id, Number(row));
    };
    expect((await app(PATH, { key })).status).toBe(404);
    await change("requests_per_minute = 50");
    isHeld = true;
    const first = app(PATH, { key });
    await vi.waitFor(() => expect(isHeld).toBe(false));
    await pause(50);
    await change("status = 'revoked'");
    const second = app(PATH, { key });
    await pause(100);
    resolve();
    expect((await Promise.all([first, second])).map(({ status }) => status)).toEqual([401, 401]);
  });
});

/** The statement, whose rows are returned when `until` resolves. */
function holdResults(statement: D1PreparedStatement, until: () => Promise<void>): D1PreparedStatement {
  return wrapStatement(statement, async (run) => {
    const rows = await run();
    await until();
    return rows;
  });
}

describe("a key that exists but is not usable", () => {
  it("is admitted once it is enabled again, although it was polled before", async ({ expect }) => {
    const { id, key } = await createKey({ status: "disabled" });
    const { app } = start();
    for (let i = 0; i < 3; i++) expect((await app(PATH, { key })).status).toBe(401);
    await env.DB.prepare("update api_keys set status = 'active' where id = ?").bind(id).run();
    expect((await app(PATH, { key })).status).toBe(404);
  });

  it("causes some 300 queries if it is polled 400 times", async ({ expect }) => {
    const { key } = await createKey({ status: "revoked" });
    const { app, queries } = start();
    const startMs = Date.now();
    for (let i = 0; i < 400; i++) expect((await app(PATH, { key })).status).toBe(401);
    const seconds = Math.ceil((Date.now() - startMs) / 1_000);
    expect(queries().length).toBeLessThanOrEqual(301 + seconds);
  });
});

describe("a request whose key is looked up for long", () => {
  it("is counted as sent when it reached the Worker", async ({ expect }) => {
    const sentAtMs = Date.UTC(2036, 0, 2, 12);
    setClock(sentAtMs);
    const { id, key } = await createKey();
    const calls: Call[] = [];
    const admit = (call: Call) => {
      calls.push(call);
      return limiterOf(id).admit(call);
    };
    const KEY_LIMITER = { getByName: () => ({ admit }) } as unknown as Bindings["KEY_LIMITER"]; // of which no more is used
    const DB = slowDatabase(async () => setClock(sentAtMs + 1_500));
    expect((await startApp({ KEY_LIMITER, DB })(PATH, { key })).status).toBe(404);
    expect(calls.map((call) => call.sentAtMs)).toEqual([sentAtMs]);
  });
});

describe("the first use of a key", () => {
  it("is marked in D1 before its limiter is called, once", async ({ expect }) => {
    const { id, key } = await createKey();
    const { app, queries } = start();
    const firstUsedAt = () =>
      env.DB.prepare("select first_used_at from api_keys where id = ?").bind(id).first("first_used_at");
    expect(await firstUsedAt()).toBeNull();
    await app(PATH, { key });
    const marked = await firstUsedAt();
    expect(marked).toBeTypeOf("number");
    queries();
    await startApp()(PATH, { key });
    await app(PATH, { key });
    expect(queries()).toEqual([]);
    expect(await firstUsedAt()).toBe(marked);
  });

  it.for([
    { what: "it was changed", assignment: "status = 'revoked'" },
    {
      what: "it was changed and another isolate used it",
      assignment: "status = 'revoked', first_used_at = 1",
    },
  ])("reads the record again if $what after it was read", async ({ assignment }, { expect }) => {
    const { id, key } = await createKey();
    let isFirst = true;
    const DB = new Proxy(env.DB, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        if (name !== "prepare") return member.bind(target);
        return (sql: string) => {
          if (!isFirst) return target.prepare(sql);
          isFirst = false;
          return holdResults(target.prepare(sql), async () => {
            await target.prepare(`update api_keys set ${assignment} where id = ?`).bind(id).run();
          });
        };
      },
    });
    expect((await startApp({ DB })(PATH, { key })).status).toBe(401);
  });
});
