/** A change takes effect on the next request, although every isolate's cache still has the old record. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { createKey } from "../../support/factories.ts";
import {
  type App,
  admit,
  crash,
  firstReport,
  LIST,
  limiterOf,
  startApp,
  startEachTestAt,
  watchDatabase,
} from "../../support/worker.ts";

startEachTestAt(Date.UTC(2033, 0, 1, 12));

/** A change by SQL, whose version is sent to the limiter as the admin API sends it. */
async function change(keyId: string, assignment: string): Promise<void> {
  await env.DB.prepare(`update api_keys set ${assignment} where id = ?`).bind(keyId).run();
  await limiterOf(keyId).raiseMinVersion(keyId, await versionOf(keyId));
}

async function versionOf(keyId: string): Promise<number> {
  const version = await env.DB.prepare("select version from key_limits where key_id = ?")
    .bind(keyId)
    .first("version");
  return Number(version);
}

async function warmIsolates(key: string): Promise<App[]> {
  const isolates = [startApp(), startApp(), startApp()];
  for (const call of isolates) await call(LIST, { key });
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
      const response = await call(LIST, { key });
      expect(response.status).toBe(401);
      expect(response.headers.get("X-RateLimit-Limit")).toBe("0");
    }
  });

  it.for([
    { what: "another plan", assignment: "plan = 'pro'", limit: "300" },
    { what: "a higher limit of its own", assignment: "requests_per_minute = 2000", limit: "2000" },
    { what: "a lower limit of its own", assignment: "requests_per_minute = 7", limit: "7" },
  ])("has $what", async ({ assignment, limit }, { expect }) => {
    const { id, key } = await createKey();
    const isolates = await warmIsolates(key);
    await change(id, assignment);
    for (const call of isolates)
      expect((await call(LIST, { key })).headers.get("X-RateLimit-Limit")).toBe(limit);
  });

  it("counts once, although the limiter was called twice", async ({ expect }) => {
    const { id, key } = await createKey();
    const [call] = await warmIsolates(key);
    await change(id, "requests_per_minute = 50");
    expect((await call?.(LIST, { key }))?.headers.get("X-RateLimit-Remaining")).toBe("46");
  });

  it("is refused if the usage of the window is above the lowered limit", async ({ expect }) => {
    const { id, key } = await createKey();
    const isolates = await warmIsolates(key);
    await change(id, "requests_per_minute = 3");
    for (const call of isolates) {
      const response = await call(LIST, { key });
      expect(response.status).toBe(429);
      expect(response.headers.get("X-RateLimit-Remaining")).toBe("0");
    }
  });
});

describe("an isolate with a cached record", () => {
  it("makes no D1 query for its next request, and one after a change", async ({ expect }) => {
    const { id, key } = await createKey();
    const call = startApp();
    await call(LIST, { key });
    const path = "/v1/no-such-path";
    const counted = watchDatabase();
    const bindings = { DB: counted.DB };
    await call(path, { key, bindings });
    expect(counted.queries()).toHaveLength(0);
    await change(id, "plan = 'pro'");
    await call(path, { key, bindings });
    expect(counted.queries()).toHaveLength(1);
    await call(path, { key, bindings });
    expect(counted.queries()).toHaveLength(0);
  });

  it("must reload its record if another isolate has used a newer one", async ({ expect }) => {
    const { id, key } = await createKey();
    const [first, second] = await warmIsolates(key);
    await env.DB.prepare("update api_keys set requests_per_minute = 99 where id = ?").bind(id).run();
    // The limiter was not notified, and no cached record has expired: the old limits still apply.
    expect((await first?.(LIST, { key }))?.headers.get("X-RateLimit-Limit")).toBe("1000");
    expect((await startApp()(LIST, { key })).headers.get("X-RateLimit-Limit")).toBe("99");
    expect((await first?.(LIST, { key }))?.headers.get("X-RateLimit-Limit")).toBe("99");
    expect((await second?.(LIST, { key }))?.headers.get("X-RateLimit-Limit")).toBe("99");
  });
});

describe("the version that a limiter requires", () => {
  it("survives a crash, whether the admin API sent it or an admitted request did", async ({ expect }) => {
    const limits = { perMinute: 1_000, perDay: 100_000 };
    let limiter = limiterOf(`key_${crypto.randomUUID()}`);
    for (let i = 0; i < 20; i++) await admit(limiter, limits);
    await admit(limiter, limits, { version: 5 });
    limiter = await crash(limiter);
    expect(await admit(limiter, limits, { version: 4 })).toMatchObject({ kind: "stale" });
    await limiter.raiseMinVersion("key", 8);
    limiter = await crash(limiter);
    expect(await admit(limiter, limits, { version: 7 })).toMatchObject({ kind: "stale" });
    expect(await admit(limiter, limits, { version: 8 })).toMatchObject({ kind: "admitted" });
  });

  it("survives a crash, where a refused request had it first and the admin API sends it again", async ({
    expect,
  }) => {
    const limits = { perMinute: 1, perDay: 10 };
    let limiter = limiterOf(`key_${crypto.randomUUID()}`);
    await admit(limiter, limits, { version: 4 });
    await firstReport(limiter);
    expect(await admit(limiter, limits, { version: 5 })).toMatchObject({ kind: "limited" });
    await limiter.raiseMinVersion("key", 5);
    limiter = await crash(limiter);
    expect(await admit(limiter, limits, { version: 4 })).toMatchObject({ kind: "stale" });
  });

  it("never goes down", async ({ expect }) => {
    const limits = { perMinute: 10, perDay: 10 };
    const limiter = limiterOf(`key_${crypto.randomUUID()}`);
    await limiter.raiseMinVersion("key", 8);
    await limiter.raiseMinVersion("key", 3);
    expect(await admit(limiter, limits, { version: 7 })).toMatchObject({ kind: "stale" });
  });
});
