/** A customer's limit over all its keys: exact from several isolates, beside the limits of the keys (ADR-42). */
import { env } from "cloudflare:workers";
import { describe, it, vi } from "vitest";
import { createKey, giveKeys, type TestKey } from "../support/factories.ts";
import { countOf, limiterOf, setClock, startApp, startEachTestAt } from "../support/worker.ts";
import { operatorOf } from "./admin/admin-support.ts";

const T0 = Date.UTC(2041, 2, 1, 10);
const isolates = [startApp(), startApp(), startApp()];
const operator = operatorOf(startApp());

startEachTestAt(T0);

/** Makes keys of one customer, each with its own limits. */
async function customerWith(limits: object, keys: readonly Parameters<typeof createKey>[0][]) {
  const made = await Promise.all(keys.map((options) => createKey({ plan: "business", ...options })));
  const id = await giveKeys(crypto.randomUUID(), ...made.map((key) => key.id));
  const { status } = await operator("PATCH", `/customers/${id}`, limits);
  if (status !== 200) throw new Error(`the limit was not set: ${status}`);
  return { id, keys: made };
}

let lastIsolate = 0;
async function ask({ key }: TestKey) {
  const app = isolates[++lastIsolate % isolates.length] ?? startApp();
  const response = await app("/v1/none", { key });
  const body = await response.json<{ code: string; message: string }>();
  const header = (name: string) => response.headers.get(name);
  return {
    status: response.status,
    message: body.message,
    triple: ["Limit", "Remaining", "Reset"].map((name) => Number(header(`X-RateLimit-${name}`))),
    policy: header("RateLimit-Policy"),
    rateLimit: header("RateLimit"),
    retryAfter: header("Retry-After"),
  };
}

const usedBy = async (name: string) => (await limiterOf(name).inspect())?.quota.map(({ used }) => used);

describe("a customer's limit", () => {
  it("admits exactly so many requests of eight keys at once, from three isolates", async ({ expect }) => {
    const { id, keys } = await customerWith({ requestsPerMinute: 20, requestsPerDay: 28 }, Array(8).fill({}));
    const burst = async () => {
      const answers = await Promise.all(keys.flatMap((key) => Array.from({ length: 6 }, () => ask(key))));
      return countOf(answers.map(({ status }) => status));
    };
    expect(await burst()).toEqual({ 404: 20, 429: 28 });
    expect(await usedBy(id)).toEqual([20, 20]);
    setClock(T0 + 60_000);
    expect(await burst()).toEqual({ 404: 8, 429: 40 });
    expect(await usedBy(id)).toEqual([8, 28]);
    const used = await Promise.all(keys.map(async (key) => (await usedBy(key.id))?.[1] ?? 0));
    expect(used.reduce((a, b) => a + b)).toBe(28);
  });

  it("is shown beside the key's, and takes nothing from it, nor the key's from it", async ({ expect }) => {
    const { id, keys } = await customerWith({ requestsPerMinute: 4 }, [{ perMinute: 2, perDay: 9 }, {}]);
    const [small, large] = keys as [TestKey, TestKey]; // as many as were asked for
    expect(await ask(small)).toMatchObject({
      status: 404,
      triple: [2, 1, T0 / 1000 + 60],
      policy: '"minute";q=2;w=60, "day";q=9;w=86400, "customer-minute";q=4;w=60',
      rateLimit: '"minute";r=1;t=60, "day";r=8;t=50400, "customer-minute";r=3;t=60',
    });
    await ask(small);
    expect(await ask(small)).toMatchObject({
      status: 429,
      triple: [2, 0, T0 / 1000 + 60],
      message: expect.stringContaining("2 requests per minute is"),
      rateLimit: '"minute";r=0;t=60, "day";r=7;t=50400, "customer-minute";r=2;t=60',
    });
    const { live } = (await operator("GET", `/customers/${id}`)).body;
    expect(live).toMatchObject({ minute: { used: 2 }, day: null });
    expect(await ask(large)).toMatchObject({ status: 404, triple: [4, 1, T0 / 1000 + 60] });
    await ask(large);
    setClock(T0 + 12_000);
    expect(await ask(large)).toMatchObject({
      status: 429,
      triple: [4, 0, T0 / 1000 + 60],
      message: "The limit of 4 requests per minute of all keys together is used up. Retry in 48 s.",
      retryAfter: "48",
      rateLimit: '"minute";r=998;t=48, "day";r=99998;t=50388, "customer-minute";r=0;t=48',
    });
    expect(await usedBy(large.id)).toEqual([2, 2]);
    setClock(T0 + 60_000);
    expect((await ask(large)).status).toBe(404);
  });

  it("bans no key that goes on, and the key's use has its refusals", async ({ expect }) => {
    const { keys } = await customerWith({ requestsPerDay: 1 }, [{}]);
    const [key] = keys as [TestKey];
    for (let second = 0; second < 40; second++) {
      setClock(T0 + second * 1_000);
      expect((await ask(key)).status).toBe(second === 0 ? 404 : 429);
    }
    const { live, whyRefused } = (await operator("GET", `/keys/${key.id}`)).body;
    expect(live).toMatchObject({ strikes: 0, ban: null, day: { used: 1 } });
    expect(whyRefused).toEqual([expect.stringContaining("39 requests were refused")]);
    const { text } = await operator("GET", `/keys/${key.id}/usage?by=hour`);
    expect(text).toContain('{"customer-day":39}');
  });

  it("is closed if its limiter fails, and then the key has counted nothing", async ({ expect }) => {
    const { id, keys } = await customerWith({ requestsPerMinute: 4 }, [{}]);
    const [key] = keys as [TestKey];
    await ask(key);
    const { getByName } = env.KEY_LIMITER;
    const limiter = vi.spyOn(Object.getPrototypeOf(env.KEY_LIMITER), "getByName");
    limiter.mockImplementation((name) => {
      if (name === id) throw new Error("the object cannot be reached");
      return getByName.call(env.KEY_LIMITER, String(name));
    });
    expect((await ask(key)).status).toBe(503);
    limiter.mockRestore();
    expect([await usedBy(key.id), await usedBy(id)]).toEqual([[1, 1], [1]]);
  });

  it("costs no call and no query where there is none", async ({ expect }) => {
    const { id, keys } = await customerWith({ requestsPerMinute: 4 }, [{}]);
    const [key] = keys as [TestKey];
    const names: unknown[] = [];
    const { getByName } = Object.getPrototypeOf(env.KEY_LIMITER);
    vi.spyOn(Object.getPrototypeOf(env.KEY_LIMITER), "getByName").mockImplementation(function (
      this: unknown,
      ...args
    ) {
      names.push(args[0]);
      return getByName.apply(this, args);
    });
    await ask(key);
    expect(names.splice(0)).toEqual([key.id, id]);
    await operator("PATCH", `/customers/${id}`, { requestsPerMinute: null });
    names.length = 0;
    await ask(key);
    expect(names).toEqual([key.id]);
  });
});
