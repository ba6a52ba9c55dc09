/** Lists that are read while the limiter decides: how old they can be, and what they cost D1. */
import { env } from "cloudflare:workers";
import fc from "fast-check";
import type { LimiterCall } from "hono-durable-limiter";
import { beforeEach, describe, it } from "vitest";
import { runs } from "../../support/deep.ts";
import { createKey, insertOrders } from "../../support/factories.ts";
import { seededRandom } from "../../support/random.ts";
import { LIST, limiters, pause, setClock, startApp } from "../../support/worker.ts";
import { countCosts, wrapDatabase } from "../../support/wrap-database.ts";

const T0 = Date.UTC(2039, 5, 1);
const ORDERS = Array.from({ length: 24 }, (_, i) => String(i + 1));

beforeEach(async () => {
  await env.DB.prepare("delete from orders").run();
  await insertOrders(...ORDERS.map((id) => ({ id })));
});

/** D1 and limiters that answer after up to this many milliseconds, and begin after as many. */
function late(maxMs: number, random: () => number) {
  const delayed = async <T>(run: () => Promise<T>): Promise<T> => {
    await pause(random() * maxMs);
    const result = await run();
    await pause(random() * maxMs);
    return result;
  };
  const DB = wrapDatabase(env.DB, (_sql, run) => delayed(run));
  const KEY_LIMITER = limiters((name) => {
    const stub = env.KEY_LIMITER.getByName(name);
    return new Proxy(stub, {
      get: (_target, member: keyof typeof stub) =>
        member === "admit"
          ? (...args: Parameters<typeof stub.admit>) => delayed(async () => stub.admit(...args))
          : stub[member],
    });
  });
  return { DB, KEY_LIMITER };
}

describe("a list that is read ahead", () => {
  it("is never older than the request or a cancel before it, whatever answers first", async ({ expect }) => {
    let lists = 0;
    const property = async (seed: number) => {
      const random = seededRandom(seed);
      const isolates = [1, 2].map(() => startApp(late(30, random)));
      const { key } = await createKey({ perMinute: 9_000, perDay: 9_000 });
      const gone = new Set<string>();
      const ids = await env.DB.prepare("select id from orders order by random() limit 5").raw<[number]>();
      const cancels = ids.map(async ([id]) => {
        await pause(random() * 150);
        await env.DB.prepare("delete from orders where id = ?").bind(id).run();
        gone.add(String(id));
      });
      const reads = Array.from({ length: 14 }, async (_, i) => {
        await pause(random() * 200);
        const before = new Set(gone);
        const response = await isolates[i % 2]?.(LIST, { key });
        const shown = (await response?.json<{ id: number }[]>()) ?? [];
        lists++;
        expect(shown.filter(({ id }) => before.has(String(id)))).toEqual([]);
      });
      await Promise.all([...cancels, ...reads]);
    };
    await fc.assert(fc.asyncProperty(fc.integer(), property), { numRuns: runs(4), endOnFailure: true });
    expect(lists).toBeGreaterThan(50);
  }, 120_000);

  it("costs one query of a key that floods, and begins early again once the key is admitted", async ({
    expect,
  }) => {
    const { DB, take } = countCosts(env.DB);
    const early: number[] = [];
    const KEY_LIMITER = limiters((name) => ({
      admit: async (call: LimiterCall) => {
        const verdict = await env.KEY_LIMITER.getByName(name).admit(call);
        early.push(take().calls);
        return verdict;
      },
    }));
    const app = startApp({ DB, KEY_LIMITER });
    const { key } = await createKey({ perMinute: 3 });
    setClock(T0);
    await app("/v1/none", { key }); // reads the MAC keys
    for (const status of [200, 200, 429, 429, 429]) {
      take();
      expect((await app(LIST, { key })).status).toBe(status);
    }
    expect(early.slice(1)).toEqual([1, 1, 1, 0, 0]);
    expect(take().calls).toBe(0);
    setClock(T0 + 60_000);
    for (let i = 0; i < 2; i++) {
      take();
      await app(LIST, { key });
    }
    expect(early.slice(-2)).toEqual([0, 1]);
  });

  it("is one query for the isolate's first list, which brings its revision", async ({ expect }) => {
    const { DB, take } = countCosts(env.DB);
    const app = startApp({ DB });
    const { key } = await createKey();
    await app("/v1/none", { key });
    take();
    expect(await (await app(LIST, { key })).json()).toHaveLength(ORDERS.length);
    expect(take().calls).toBe(1);
  });
});
