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
  UNKNOWN_KEY_QUERIES,
} from "../../../src/worker/auth/key-lookup.ts";
import type { Bindings } from "../../../src/worker/context.ts";
import { ApiError, renderError } from "../../../src/worker/errors.ts";
import { createKey } from "../../support/factories.ts";
import { captureLog, countOf, guess, LIST, startApp, watchDatabase } from "../../support/worker.ts";

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

function guessHash(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toHex();
}

/** D1 that answers nothing before `release`. */
function heldDatabase() {
  const { promise, resolve: release } = Promise.withResolvers<void>();
  const held = (statement: D1PreparedStatement): D1PreparedStatement =>
    new Proxy(statement, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        if (name === "bind") return (...args: unknown[]) => held(member.apply(target, args));
        return async (...args: unknown[]) => {
          await promise;
          return member.apply(target, args);
        };
      },
    });
  // A lookup uses this member only.
  return { DB: { prepare: (sql: string) => held(env.DB.prepare(sql)) } as unknown as D1Database, release };
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
    const d1 = watchDatabase();
    const UNKNOWN_KEY_IP_RATE_LIMIT = countingIpRateLimit();
    const find = startLookups({ DB: d1.DB, UNKNOWN_KEY_IP_RATE_LIMIT });
    const statuses: number[] = [];
    let left = 10_000;
    const flood = Array.from({ length: 1_500 }, async () => {
      while (left-- > 0) statuses.push(statusOf(await find(guessHash())));
    });
    expect(await find(await hashKey(key))).toMatchObject({ id });
    await Promise.all(flood);
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

describe("an isolate in which the most lookups wait", () => {
  /** Stops the clock and the timers, and with them the slots of the queries that D1 holds. */
  function saturate(perMinute = PER_MINUTE) {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: Date.now() });
    const { DB, release } = heldDatabase();
    const UNKNOWN_KEY_IP_RATE_LIMIT = countingIpRateLimit(perMinute);
    const find = startLookups({ DB, UNKNOWN_KEY_IP_RATE_LIMIT });
    const waiting = Array.from({ length: MAX_WAITING_LOOKUPS + UNKNOWN_KEY_QUERIES.maxQueries }, () =>
      find(guessHash()),
    );
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
    return { find, waiting, refusalOf, fill, release, counts: UNKNOWN_KEY_IP_RATE_LIMIT.counts };
  }

  it("answers 429 with exact headers above the per-IP limit, and is as before when they are done", async ({
    expect,
  }) => {
    const { find, waiting, refusalOf, fill, release } = saturate();
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
    release();
    expect(await valid).toMatchObject({ id: known.id });
    const statuses = (await Promise.all(waiting)).map(statusOf);
    expect(countOf(statuses)).toEqual({ 401: waiting.length - 1, 429: 1 });
    expect(statusOf(await find(guessHash()))).toBe(401);
  });

  it("counts a /48 as one network, and the Workers of each zone as one", async ({ expect }) => {
    const { fill, refusalOf, counts, release, waiting } = saturate(50);
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
    release();
    await Promise.all(waiting);
  });

  it("never has more waiting than the maximum, whatever number of addresses they come from", async ({
    expect,
  }) => {
    const { fill, release, waiting } = saturate();
    const rest = MAX_WAITING_LOOKUPS_IN_ALL - MAX_WAITING_LOOKUPS;
    fill(rest + 500, (i) => ({ "CF-Connecting-IP": `192.0.${Math.floor(i / 250)}.${i % 250}` }));
    await microtasks();
    release();
    const found = await Promise.all(waiting);
    expect(countOf(found.map(statusOf))).toEqual({ 401: waiting.length - 500, 503: 500 });
    const refused = found.find((each) => each instanceof Response && each.status === 503);
    expect(refused instanceof Response && refused.headers.get("Retry-After")).toBe("5");
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
