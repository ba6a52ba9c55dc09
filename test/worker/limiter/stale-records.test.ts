/** What an operator changes takes effect on the next request, although every isolate's cache still has the old record. */
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { createKey } from "../../support/factories.ts";
import {
  type Caller,
  countingD1,
  crash,
  limiterOf,
  newIsolate,
  setClock,
  withoutLog,
} from "./limiter-support.ts";

beforeEach(() => {
  withoutLog();
  setClock(Date.UTC(2033, 0, 1, 12));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A change by SQL, told to the limiter as the operator's surface tells it. */
async function change(keyId: string, assignment: string): Promise<void> {
  await env.DB.prepare(`update api_keys set ${assignment} where id = ?`).bind(keyId).run();
  await limiterOf(keyId).raiseMinVersion(await versionOf(keyId));
}

async function versionOf(keyId: string): Promise<number> {
  const version = await env.DB.prepare("select version from api_keys where id = ?")
    .bind(keyId)
    .first("version");
  return Number(version);
}

async function warmIsolates(key: string): Promise<Caller[]> {
  const isolates = [newIsolate(), newIsolate(), newIsolate()];
  for (const call of isolates) await call(key);
  return isolates;
}

describe("the next request after a change, from any isolate,", () => {
  it.for([
    { what: "a revoked key", assignment: "status = 'revoked'" },
    { what: "a disabled key", assignment: "status = 'disabled'" },
    { what: "an expiry in the past", assignment: "expires_at = 1" },
  ])("is a 401 for $what", async ({ assignment }, { expect }) => {
    const { id, key } = await createKey();
    const isolates = await warmIsolates(key);
    await change(id, assignment);
    for (const call of isolates) {
      const response = await call(key);
      expect(response.status).toBe(401);
      expect(response.headers.get("X-RateLimit-Limit")).toBe("0");
    }
  });

  it.for([
    { what: "another plan", assignment: "plan = 'pro'", limit: "300" },
    { what: "a higher limit of its own", assignment: "requests_per_minute = 2000", limit: "2000" },
    { what: "a lower limit of its own", assignment: "requests_per_minute = 7", limit: "7" },
  ])("is under $what", async ({ assignment, limit }, { expect }) => {
    const { id, key } = await createKey();
    const isolates = await warmIsolates(key);
    await change(id, assignment);
    for (const call of isolates) expect((await call(key)).headers.get("X-RateLimit-Limit")).toBe(limit);
  });

  it("counts once, although the limiter was asked twice", async ({ expect }) => {
    const { id, key } = await createKey();
    const [call] = await warmIsolates(key);
    await change(id, "requests_per_minute = 50");
    expect((await call?.(key))?.headers.get("X-RateLimit-Remaining")).toBe("46");
  });

  it("is refused where a lowered limit is already used up, in mid-window", async ({ expect }) => {
    const { id, key } = await createKey();
    const isolates = await warmIsolates(key);
    await change(id, "requests_per_minute = 3");
    for (const call of isolates) {
      const response = await call(key);
      expect(response.status).toBe(429);
      expect(response.headers.get("X-RateLimit-Remaining")).toBe("0");
    }
  });
});

describe("a warm isolate", () => {
  it("asks D1 nothing for its next request, and once after a change", async ({ expect }) => {
    const { id, key } = await createKey();
    const call = newIsolate();
    await call(key);
    const path = "/v1/no-such-path";
    const counted = countingD1();
    await call(key, path, counted.overrides);
    expect(counted.queries()).toBe(0);
    await change(id, "plan = 'pro'");
    await call(key, path, counted.overrides);
    expect(counted.queries()).toBe(1);
    await call(key, path, counted.overrides);
    expect(counted.queries()).toBe(1);
  });

  it("is refused with a record older than one that another isolate has brought", async ({ expect }) => {
    const { id, key } = await createKey();
    const [first, second] = await warmIsolates(key);
    await env.DB.prepare("update api_keys set requests_per_minute = 99 where id = ?").bind(id).run();
    // Nobody told the limiter, and no cache has run out: the old limits still apply.
    expect((await first?.(key))?.headers.get("X-RateLimit-Limit")).toBe("1000");
    expect((await newIsolate()(key)).headers.get("X-RateLimit-Limit")).toBe("99");
    expect((await first?.(key))?.headers.get("X-RateLimit-Limit")).toBe("99");
    expect((await second?.(key))?.headers.get("X-RateLimit-Limit")).toBe("99");
  });
});

describe("the version a limiter requires", () => {
  it("survives a crash, whether it was told or came with an admitted request", async ({ expect }) => {
    const limits = { perMinute: 1_000, perDay: 100_000 };
    let limiter = limiterOf(`key_${crypto.randomUUID()}`);
    for (let i = 0; i < 20; i++) await limiter.admit({ version: 1, limits });
    await limiter.admit({ version: 5, limits });
    limiter = await crash(limiter);
    expect(await limiter.admit({ version: 4, limits })).toEqual({ kind: "stale" });
    await limiter.raiseMinVersion(8);
    limiter = await crash(limiter);
    expect(await limiter.admit({ version: 7, limits })).toEqual({ kind: "stale" });
    expect(await limiter.admit({ version: 8, limits })).toMatchObject({ kind: "admitted" });
  });

  it("never goes down", async ({ expect }) => {
    const limits = { perMinute: 10, perDay: 10 };
    const limiter = limiterOf(`key_${crypto.randomUUID()}`);
    await limiter.raiseMinVersion(8);
    await limiter.raiseMinVersion(3);
    expect(await limiter.admit({ version: 7, limits })).toEqual({ kind: "stale" });
  });
});
