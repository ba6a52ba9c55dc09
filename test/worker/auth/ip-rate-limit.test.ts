/** Floods of well-formed random keys: a valid key is admitted whatever its neighbours do, and D1 gets few queries (ADR-24). */
import { createExecutionContext, listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { MAX_UNKNOWN_KEY_LOOKUPS_PER_MINUTE as PER_MINUTE } from "../../../src/worker/auth/ip-rate-limit-rules.ts";
import { hashKey } from "../../../src/worker/auth/key-hash.ts";
import {
  KeyLookup,
  MAX_WAITING_LOOKUPS,
  MAX_WAITING_LOOKUPS_IN_ALL,
  MAX_WAITING_LOOKUPS_OF_NEW_KEYS,
  MAX_WAITING_LOOKUPS_PER_KEY,
} from "../../../src/worker/auth/key-lookup.ts";
import type { Bindings } from "../../../src/worker/context.ts";
import { ApiError, renderError } from "../../../src/worker/errors.ts";
import { addSecret, createKey } from "../../support/factories.ts";
import { captureLog, countOf, guess, LIST, startApp, watchDatabase } from "../../support/worker.ts";
import { wrapStatement } from "../../support/wrap-statement.ts";

let log: ReturnType<typeof captureLog>;
beforeEach(() => {
  log = captureLog();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const ADDRESS = { "CF-Connecting-IP": "192.0.2.1" };

/** The lookups of one isolate, without the app around them. */
function startLookups(replaced: Partial<Bindings>) {
  const keys = new KeyLookup();
  return (hash: string, headers: Record<string, string> = ADDRESS) => {
    const ctx = createExecutionContext();
    const waitUntil = (promise: Promise<unknown>) => ctx.waitUntil(promise);
    return keys
      .find({ hash, env: { ...env, ...replaced }, headers: new Headers(headers), waitUntil })
      .catch((thrown: unknown) => {
        if (thrown instanceof ApiError) return renderError(thrown);
        throw thrown;
      });
  };
}

type Found = Awaited<ReturnType<ReturnType<typeof startLookups>>>;

function statusOf(found: Found): number {
  return found instanceof Response ? found.status : 200;
}

/** Long enough for a refusal, which waits for nothing but the fake binding. */
async function microtasks(): Promise<void> {
  for (let i = 0; i < 100; i++) await null;
}

/** Moves the test's clock by 2 s, while D1 answers. Here all requests are one for the runtime, which has its timers one by one. */
async function goOn(): Promise<void> {
  for (let i = 0; i < 20; i++) {
    await env.DB.prepare("select 1").run();
    vi.advanceTimersByTime(100);
  }
}

function guessHash(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toHex();
}

/** D1 that answers nothing before `release`. */
function heldDatabase() {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  const held = (sql: string) => wrapStatement(env.DB.prepare(sql), (run) => promise.then(run));
  // A lookup uses this member only.
  return { DB: { prepare: held } as unknown as D1Database, release };
}

/** The binding without its clock. */
function countingIpRateLimit(perMinute = PER_MINUTE) {
  const counts = new Map<string, number>();
  const limit = async ({ key }: { key: string }) => {
    counts.set(key, (counts.get(key) ?? 0) + 1);
    return { success: (counts.get(key) ?? 0) <= perMinute };
  };
  return { limit, counts };
}

describe("10,000 random keys from one address, 1,500 at a time", () => {
  it("do not shut out a valid key of that address, and cause few queries", async ({ expect }) => {
    const { id, key } = await createKey({ used: true });
    // Here all requests are one for the runtime, which has its timers one by one. So the test moves the clock, 10 ms with each query.
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: Date.now() });
    const d1 = watchDatabase();
    const UNKNOWN_KEY_IP_RATE_LIMIT = countingIpRateLimit();
    const find = startLookups({ DB: d1.DB, UNKNOWN_KEY_IP_RATE_LIMIT });
    const statuses: number[] = [];
    let left = 10_000;
    const flood = Array.from({ length: 1_500 }, async () => {
      while (left-- > 0) statuses.push(statusOf(await find(guessHash())));
    });
    const valid = find(await hashKey(key));
    while (statuses.length < 10_000) {
      await env.DB.prepare("select 1").run();
      vi.advanceTimersByTime(10);
    }
    await Promise.all(flood);
    expect(await valid).toMatchObject({ id });
    expect(countOf(statuses)).toEqual({ 401: 10_000 });
    expect(d1.queries().length).toBeLessThan(100);
    expect(UNKNOWN_KEY_IP_RATE_LIMIT.counts.size).toBe(0);
  });
});

describe("more random keys at once than the per-IP limit", () => {
  it("are answered 401, beside a valid key that the isolate has not met, and create no limiter", async ({
    expect,
  }) => {
    const { key } = await createKey();
    const d1 = watchDatabase();
    const app = startApp({ DB: d1.DB });
    const objectsBefore = (await listDurableObjectIds(env.KEY_LIMITER)).length;
    const send = (credential: string) => app(LIST, { key: credential, headers: ADDRESS });
    const flood = Array.from({ length: 2 * PER_MINUTE }, () => send(guess()));
    const valid = await send(key);
    expect(valid.status).toBe(200);
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    expect(countOf(statuses)).toEqual({ 401: 2 * PER_MINUTE });
    expect(d1.queries().filter((sql) => sql.includes("key_secrets")).length).toBeLessThanOrEqual(5);
    expect(await listDurableObjectIds(env.KEY_LIMITER)).toHaveLength(objectsBefore + 1);
  });

  it("share the error of a query that fails, and none is lost", async ({ expect }) => {
    const { key } = await createKey();
    const d1 = watchDatabase();
    const app = startApp({ DB: d1.DB });
    const send = (credential: string) => app(LIST, { key: credential, headers: ADDRESS });
    d1.failWith("D1_ERROR: Network connection lost");
    const flood = await Promise.all(Array.from({ length: 50 }, () => send(guess())));
    expect(countOf(flood.map(({ status }) => status))).toEqual({ 503: 50 });
    expect(d1.queries().length).toBeLessThanOrEqual(3);
    d1.failWith(undefined);
    expect((await send(key)).status).toBe(200);
  });
});

describe("an isolate in which the most requests wait for lookups", () => {
  /** Stops the clock and the timers, and with them the slots of the queries that D1 holds. */
  function saturate(perMinute = PER_MINUTE) {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: Date.now() });
    const { DB, release } = heldDatabase();
    const UNKNOWN_KEY_IP_RATE_LIMIT = countingIpRateLimit(perMinute);
    const find = startLookups({ DB, UNKNOWN_KEY_IP_RATE_LIMIT });
    // Half of them share two lookups.
    const repeated = [guessHash(), guessHash()];
    const waiting = Array.from({ length: MAX_WAITING_LOOKUPS }, (_, i) =>
      find(repeated[i % 4] ?? guessHash()),
    );
    /** What those get that wait, as D1 and the clock go on. */
    const settle = async () => {
      release();
      const [found] = await Promise.all([Promise.all(waiting), goOn()]);
      return found;
    };
    /** The status of one more lookup if it is refused; undefined if it waits. */
    const refusalOf = async (headers: Record<string, string>) => {
      const found = find(guessHash(), headers);
      waiting.push(found);
      const first = await Promise.race([found, microtasks()]);
      return first instanceof Response ? first : undefined;
    };
    const fill = (count: number, headers: (i: number) => Record<string, string>) => {
      for (let i = 0; i < count; i++) waiting.push(find(guessHash(), headers(i)));
    };
    return { find, waiting, refusalOf, fill, settle, counts: UNKNOWN_KEY_IP_RATE_LIMIT.counts };
  }

  it("answers 429 with exact headers above the per-IP limit, and is as before when they are done", async ({
    expect,
  }) => {
    const { find, waiting, refusalOf, fill, settle } = saturate();
    const known = await createKey({ used: true });
    fill(PER_MINUTE, () => ADDRESS);
    const refused = await refusalOf(ADDRESS);
    const reset = Math.ceil(Date.now() / 1000) + 60;
    expect(refused?.status).toBe(429);
    expect(await refused?.json()).toMatchObject({ code: "rate_limit_exceeded", status: 429 });
    expect(Object.fromEntries(refused?.headers ?? [])).toMatchObject({
      "x-ratelimit-limit": String(PER_MINUTE),
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String(reset),
      "retry-after": "60",
    });
    expect(log.lines()).toMatchObject([{ event: "ip_rate_limit_exceeded", network: "192.0.2.1" }]);
    const valid = find(await hashKey(known.key), { "CF-Connecting-IP": "198.51.100.1" });
    const statuses = (await settle()).map(statusOf);
    expect(await valid).toMatchObject({ id: known.id });
    expect(countOf(statuses)).toEqual({ 401: waiting.length - 1, 429: 1 });
    expect(statusOf(await find(guessHash()))).toBe(401);
  });

  it("counts a /48 as one network, and the Workers of each zone as one", async ({ expect }) => {
    const { fill, refusalOf, counts, settle } = saturate(50);
    const worker = (zone: string) => ({ "CF-Connecting-IP": "2a06:98c0:3600::103", "CF-Worker": zone });
    fill(50, (i) => ({ "CF-Connecting-IP": `2001:db8:1:${i.toString(16)}::1` }));
    fill(50, () => worker("one.example"));
    fill(50, (i) => ({ ...ADDRESS, "CF-Worker": `${i}.example` }));
    await microtasks();
    const status = async (headers: Record<string, string>) => (await refusalOf(headers))?.status;
    expect(await status({ "CF-Connecting-IP": "2001:db8:1:ffff::1" })).toBe(429);
    expect(await status({ "CF-Connecting-IP": "2001:db8:2::1" })).toBeUndefined();
    expect(await status(worker("one.example"))).toBe(429);
    expect(await status(worker("two.example"))).toBeUndefined();
    expect(await status({ ...ADDRESS, "CF-Worker": "new.example" })).toBe(429);
    expect([...counts.keys()]).toEqual([
      "2001:db8:1::/48",
      "Workers of one.example",
      "192.0.2.1",
      "2001:db8:2::/48",
      "Workers of two.example",
    ]);
    await settle();
  });

  it("never has more waiting than the maximum, whatever number of addresses they come from", async ({
    expect,
  }) => {
    const { fill, settle, waiting } = saturate();
    const rest = MAX_WAITING_LOOKUPS_OF_NEW_KEYS - MAX_WAITING_LOOKUPS;
    fill(rest + 500, (i) => ({ "CF-Connecting-IP": `192.0.${Math.floor(i / 250)}.${i % 250}` }));
    await microtasks();
    const found = await settle();
    expect(countOf(found.map(statusOf))).toEqual({ 401: waiting.length - 500, 503: 500 });
    const refused = found.find((each) => each instanceof Response && each.status === 503);
    expect(refused instanceof Response && refused.headers.get("Retry-After")).toBe("5");
  });
});

/** Lookups whose D1 answers until `hold`, and again after `release`. */
function startHoldableLookups(ipRateLimit: RateLimit) {
  const held = heldDatabase();
  let DB = env.DB;
  const current = { prepare: (sql: string) => DB.prepare(sql) } as unknown as D1Database; // a lookup uses this member only
  const find = startLookups({ DB: current, UNKNOWN_KEY_IP_RATE_LIMIT: ipRateLimit });
  const hold = () => {
    DB = held.DB;
  };
  return { find, hold, release: held.release };
}

describe("keys that the isolate has used", () => {
  it("are looked up while no new ones are, up to a maximum", async ({ expect }) => {
    const used = await createKey({ used: true });
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: Date.now() });
    const { find, hold, release } = startHoldableLookups(countingIpRateLimit(10_000));
    const hash = await hashKey(used.key);
    expect(await find(hash)).toMatchObject({ id: used.id });
    vi.setSystemTime(Date.now() + 61_000);
    hold();
    const send = (count: number, hashOf: () => string) =>
      Promise.all(Array.from({ length: count }, async () => statusOf(await find(hashOf()))));
    const news = send(MAX_WAITING_LOOKUPS_OF_NEW_KEYS + 10, guessHash);
    await microtasks();
    const places = MAX_WAITING_LOOKUPS_IN_ALL - MAX_WAITING_LOOKUPS_OF_NEW_KEYS;
    const known = send(places + 10, () => hash);
    await microtasks();
    release();
    const [ofNew, ofKnown] = await Promise.all([news, known, goOn()]);
    expect(countOf(ofNew)).toEqual({ 401: MAX_WAITING_LOOKUPS_OF_NEW_KEYS, 503: 10 });
    expect(countOf(ofKnown)).toEqual({ 200: places, 503: 10 });
  });

  it("wait for one maximum with all of their secrets", async ({ expect }) => {
    const used = await createKey({ used: true });
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: Date.now() });
    const { find, hold, release } = startHoldableLookups(countingIpRateLimit(10_000));
    const secrets = [used.key, await addSecret(used.id)];
    const hashes = await Promise.all(secrets.map(hashKey));
    for (const hash of hashes) expect(await find(hash)).toMatchObject({ id: used.id });
    vi.setSystemTime(Date.now() + 61_000);
    hold();
    const sent = hashes.flatMap((hash) =>
      Array.from({ length: MAX_WAITING_LOOKUPS_PER_KEY }, async () => statusOf(await find(hash))),
    );
    await microtasks();
    vi.setSystemTime(Date.now() + 2_000);
    expect(statusOf(await find(hashes[0] ?? "")), "they count for as long as they wait").toBe(503);
    release();
    const [statuses] = await Promise.all([Promise.all(sent), goOn()]);
    expect(countOf(statuses)).toEqual({
      200: MAX_WAITING_LOOKUPS_PER_KEY,
      503: MAX_WAITING_LOOKUPS_PER_KEY,
    });
  });
});

function sendWaiting(find: ReturnType<typeof startLookups>, hash: string, more = 0) {
  return Array.from({ length: MAX_WAITING_LOOKUPS_PER_KEY + more }, () => find(hash));
}

describe("one key with which more requests wait than one key may have", () => {
  it("is answered 503, unknown or known, and other keys are admitted", async ({ expect }) => {
    const [revoked, valid] = [await createKey({ status: "revoked" }), await createKey({ used: true })];
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: Date.now() });
    const { find, hold, release } = startHoldableLookups(countingIpRateLimit());
    const known = await hashKey(revoked.key);
    expect(statusOf(await find(known))).toBe(401);
    hold();
    const [ofKnown, ofUnknown] = [sendWaiting(find, known, 50), sendWaiting(find, guessHash(), 50)];
    await microtasks();
    const other = find(await hashKey(valid.key));
    release();
    await Promise.all([...ofKnown, ...ofUnknown, other, goOn()]);
    const places = MAX_WAITING_LOOKUPS_PER_KEY;
    expect(countOf((await Promise.all(ofUnknown)).map(statusOf))).toEqual({ 401: places, 503: 50 });
    expect(countOf((await Promise.all(ofKnown)).map(statusOf))).toEqual({ 401: places + 1, 503: 49 });
    expect(await other).toMatchObject({ id: valid.id });
  });

  it("has one maximum for all its unusable secrets, which take none of its valid one", async ({ expect }) => {
    const { id, key } = await createKey({ used: true });
    const ended = await Promise.all(Array.from({ length: 3 }, () => addSecret(id, 1)));
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: Date.now() });
    const { find, hold, release } = startHoldableLookups(countingIpRateLimit());
    const hashes = await Promise.all(ended.map(hashKey));
    for (const hash of hashes) expect(statusOf(await find(hash))).toBe(401);
    hold();
    const found = hashes.flatMap((hash) => sendWaiting(find, hash));
    await microtasks();
    const valid = find(await hashKey(key));
    release();
    await Promise.all([...found, valid, goOn()]);
    const places = MAX_WAITING_LOOKUPS_PER_KEY + hashes.length; // the first of each secret has one of its own
    expect(countOf((await Promise.all(found)).map(statusOf))).toEqual({
      401: places,
      503: found.length - places,
    });
    expect(await valid).toMatchObject({ id });
  });

  it("is admitted once it is enabled again, though an ended secret of it is sent", async ({ expect }) => {
    const { id, key } = await createKey({ used: true });
    const hashes = await Promise.all([await addSecret(id, 1), key].map(hashKey));
    const setStatus = (status: string) =>
      env.DB.prepare("update api_keys set status = ? where id = ?").bind(status, id).run();
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: Date.now() });
    const { find, hold, release } = startHoldableLookups(countingIpRateLimit());
    await setStatus("disabled");
    for (const hash of hashes) expect(statusOf(await find(hash))).toBe(401);
    await setStatus("active");
    hold();
    const [ended = "", valid = ""] = hashes;
    const sent = sendWaiting(find, ended, 50);
    await microtasks();
    const admitted = find(valid);
    release();
    await Promise.all([...sent, admitted, goOn()]);
    expect(await admitted).toMatchObject({ id });
  });
});

describe("a query that hangs", () => {
  it("does not delay other keys, known or unknown", async ({ expect }) => {
    const [one, two] = [await createKey(), await createKey()];
    const held = heldDatabase();
    const app = startApp();
    expect((await app(LIST, { key: one.key })).status).toBe(200);
    const hanging = app(LIST, { key: guess(), bindings: { DB: held.DB } });
    const startMs = performance.now();
    const others = await Promise.all([one.key, two.key, guess()].map((key) => app(LIST, { key })));
    expect(others.map(({ status }) => status)).toEqual([200, 200, 401]);
    expect(performance.now() - startMs).toBeLessThan(1_000);
    held.release();
    expect((await hanging).status).toBe(401);
  });
});

describe("a key that this isolate knows", () => {
  it("is looked up beside the others, and not with them", async ({ expect }) => {
    const { key } = await createKey();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    const app = startApp();
    expect((await app(LIST, { key })).status).toBe(200);
    vi.setSystemTime(Date.now() + 61_000);
    const held = heldDatabase();
    const guesses = Array.from({ length: 10 }, () => app(LIST, { key: guess(), bindings: { DB: held.DB } }));
    expect((await app(LIST, { key })).status).toBe(200);
    held.release();
    for (const response of await Promise.all(guesses)) expect(response.status).toBe(401);
  });
});
