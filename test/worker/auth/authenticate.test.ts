import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { addSecret, createKey } from "../../support/factories.ts";
import { captureLog, guess, startApp, watchDatabase, watchLimiters } from "../../support/worker.ts";

const LIST = "/v1/store/orders";
const MISSING = 'Bearer realm="store-orders"';
const INVALID = 'Bearer realm="store-orders", error="invalid_token"';

let log: ReturnType<typeof captureLog>;
beforeEach(() => {
  log = captureLog();
});
afterEach(() => {
  log.restore();
  vi.useRealTimers();
});

function mistyped(key: string): string {
  return key.slice(0, 9) + (key.charAt(9) === "x" ? "y" : "x") + key.slice(10);
}

function inSeconds(seconds: number): number {
  return Math.floor(Date.now() / 1000) + seconds;
}

async function setKey(id: string, assignment: string): Promise<void> {
  await env.DB.prepare(`update api_keys set ${assignment} where id = ?`).bind(id).run();
}

/** Authorization headers without a valid key, each with its `WWW-Authenticate`. */
async function refusedHeaders(): Promise<[cause: string, header: string | undefined, challenge: string][]> {
  const { id } = await createKey();
  const valid = (await createKey()).key;
  const key = async (options: Parameters<typeof createKey>[0]) => `Bearer ${(await createKey(options)).key}`;
  return [
    ["missing", undefined, MISSING],
    ["empty", "", MISSING],
    ["without a credential", "Bearer", MISSING],
    ["without a scheme", valid, MISSING],
    ["another scheme", `Basic ${btoa(`user:${valid}`)}`, MISSING],
    ["another scheme with a key", `Token ${valid}`, MISSING],
    ["of another shape", "Bearer abc", INVALID],
    ["two credentials", `Bearer ${valid} ${valid}`, INVALID],
    ["very long", `Bearer sok_${"a".repeat(5_000)}`, INVALID],
    ["mistyped", `Bearer ${mistyped(valid)}`, INVALID],
    ["unknown", `Bearer ${guess()}`, INVALID],
    ["revoked", await key({ status: "revoked" }), INVALID],
    ["disabled", await key({ status: "disabled" }), INVALID],
    ["expired", await key({ expiresAt: inSeconds(-1) }), INVALID],
    ["found by an expired secret", `Bearer ${await addSecret(id, inSeconds(-1))}`, INVALID],
  ];
}

describe("a request without a valid key", () => {
  it("gets the same 401 for every cause, except for the challenge of a missing key", async ({ expect }) => {
    const app = startApp();
    const bodies = new Set<string>();
    const headerNames = new Set<string>();
    for (const [cause, header, challenge] of await refusedHeaders()) {
      const response = await app(LIST, header === undefined ? {} : { headers: { Authorization: header } });
      expect(response.status, cause).toBe(401);
      expect(response.headers.get("WWW-Authenticate"), cause).toBe(challenge);
      expect(response.headers.get("Content-Type")).toBe("application/json");
      expect(response.headers.get("X-RateLimit-Limit")).toBe("0");
      bodies.add(await response.text());
      headerNames.add([...response.headers.keys()].sort().join());
    }
    expect([...bodies]).toEqual([
      '{"code":"unauthorized","message":"Missing or invalid API key.","status":401}',
    ]);
    expect(headerNames.size).toBe(1);
  });

  it("gets 401 for any Authorization header", async ({ expect }) => {
    const app = startApp();
    const text = fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    });
    const scheme = fc.constantFrom("Bearer ", "bearer  ", "Bearer sok_", "Basic ", "", "Bearer\t");
    await fc.assert(
      fc.asyncProperty(scheme, text, async (before, after) => {
        expect((await app(LIST, { headers: { Authorization: before + after } })).status).toBe(401);
      }),
      { numRuns: 200 },
    );
  });

  it("changes no order with a DELETE", async ({ expect }) => {
    await env.DB.prepare("insert into orders (id) values (71)").run();
    for (const headers of [{}, { Authorization: `Bearer ${guess()}` }]) {
      expect((await startApp()(`${LIST}/71`, { method: "DELETE", headers })).status).toBe(401);
    }
    expect(await env.DB.prepare("select count(*) as n from orders where id = 71").first("n")).toBe(1);
  });

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
  it("is accepted with the scheme in any case and after more than one space", async ({ expect }) => {
    const app = startApp();
    const { key } = await createKey();
    for (const header of [`Bearer ${key}`, `bearer ${key}`, `BEARER ${key}`, `Bearer   ${key}`]) {
      expect((await app(LIST, { headers: { Authorization: header } })).status, header).toBe(200);
    }
  });

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
  it("expires exact to the second, also if the isolate has it cached", async ({ expect }) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const app = startApp();
    const expiresAt = inSeconds(20);
    const { key } = await createKey({ expiresAt });
    expect((await app(LIST, { key })).status).toBe(200);
    vi.setSystemTime(expiresAt * 1000 - 1);
    expect((await app(LIST, { key })).status).toBe(200);
    vi.setSystemTime(expiresAt * 1000);
    expect((await app(LIST, { key })).status).toBe(401);
  });

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

  it("is admitted on its next request once it is enabled again", async ({ expect }) => {
    const app = startApp();
    const { id, key } = await createKey({ status: "disabled" });
    expect((await app(LIST, { key })).status).toBe(401);
    await setKey(id, "status = 'active'");
    expect((await app(LIST, { key })).status).toBe(200);
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

describe("the log", () => {
  it("says why a key was refused, whose it is and where the request came from", async ({ expect }) => {
    const app = startApp();
    const revoked = await createKey({ status: "revoked" });
    const disabled = await createKey({ status: "disabled" });
    const expired = await createKey({ expiresAt: 1 });
    const headers = { "CF-Connecting-IP": "2001:db8:1:2:3::4" };
    for (const key of [undefined, "nonsense", guess(), revoked.key, disabled.key, expired.key]) {
      await app(LIST, { headers, ...(key === undefined ? {} : { key }) });
    }
    const line = { event: "request", status: 401, network: "2001:db8:1::/48" };
    expect(log.lines()).toMatchObject([
      { ...line, reason: "missing" },
      { ...line, reason: "malformed" },
      { ...line, reason: "unknown" },
      { ...line, reason: "revoked", keyId: revoked.id },
      { ...line, reason: "disabled", keyId: disabled.id },
      { ...line, reason: "expired", keyId: expired.id },
    ]);
  });

  it("has the id of the key and never its secret, whether the request is refused or admitted", async ({
    expect,
  }) => {
    const app = startApp();
    const { id, key } = await createKey();
    const disabled = await createKey({ status: "disabled" });
    await app(`${LIST}/${key}?key=${key}`, { key, method: "DELETE" });
    await app(LIST, { key: disabled.key });
    expect(log.lines()).toMatchObject([{ keyId: id, status: 404 }, { status: 401 }]);
    expect(log.text()).not.toContain(key.slice(4));
    expect(log.text()).not.toContain(disabled.key.slice(4));
  });
});
