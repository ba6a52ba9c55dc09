/** Limiters that could not report are seen, and no figure claims their requests, until they have reported. */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { createKey } from "../../support/factories.ts";
import {
  limiterOf,
  limiters,
  runMinuteCron,
  setClock,
  startApp,
  startEachTestAt,
} from "../../support/worker.ts";
import { browserWith } from "../console/browser.ts";
import { operatorOf, unreachableLimiters, withoutReportsTo } from "./admin-support.ts";

const T0 = Date.UTC(2037, 4, 1, 10, 5);
const MINUTE = 60_000;
const app = startApp();
const operator = operatorOf(app);

startEachTestAt(T0);

/** What each place says: until when requests are counted, how many keys are missing, and which. */
async function seen(of = app) {
  const metrics = await (await of("/admin/metrics", { key: env.ADMIN_TOKEN })).arrayBuffer();
  const text = new TextDecoder().decode(metrics);
  const asOf = /as_of_timestamp_seconds\{metric="store_orders_requests"\} (\d+)/.exec(text)?.[1];
  const keys = (await operatorOf(of)("GET", "/keys")).body;
  const health = (await (await of("/health")).json()) as { unreportedKeys?: number };
  return {
    metrics: [new Date(Number(asOf) * 1000).toISOString(), Number(/unreported_keys (\d+)/.exec(text)?.[1])],
    keys: [new Date(String(keys.asOf)).toISOString(), keys.unreachable],
    health: health.unreportedKeys,
  };
}

const at = (hour: number) => new Date(Date.UTC(2037, 4, 1, hour)).toISOString();
const complete = (hour: number) => ({ metrics: [at(hour), 0], keys: [at(hour), []], health: 0 });
const missing = (hour: number, ...ids: string[]) => ({
  metrics: [at(hour), ids.length],
  keys: [at(hour), ids],
  health: ids.length,
});

async function admittedOf(id: string): Promise<unknown> {
  const { body } = await operator("GET", "/keys?days=1&limit=500");
  return (body.keys as { id: string; admittedToday: number }[]).find((key) => key.id === id)?.admittedToday;
}

describe("a limiter that could not report", () => {
  it("is named, and bounds what is counted, until a cron has let it report", async ({ expect }) => {
    const { id, key } = await createKey();
    await app("/v1/nothing", { key });
    await limiterOf(id).flush();
    expect(await seen()).toEqual(complete(9));
    await withoutReportsTo(["usage"], async () => {
      for (let i = 0; i < 60; i++) await app("/v1/nothing", { key });
      await limiterOf(id)
        .flush()
        .catch(() => undefined);
      setClock(T0 + 145 * MINUTE);
      await runMinuteCron();
      expect(await seen()).toEqual(missing(10, id));
      const { get } = await browserWith(env.ADMIN_TOKEN);
      expect(await (await get("/console")).text()).toContain("The latest usage of 1 key may be missing");
      expect(await (await get("/console/keys")).text()).toContain(`The counters of ${id} could not report.`);
    });
    setClock(T0 + 146 * MINUTE);
    expect([await seen(), await admittedOf(id)]).toEqual([missing(10, id), 1]);
    await runMinuteCron();
    setClock(T0 + 147 * MINUTE);
    expect([await seen(), await admittedOf(id)]).toEqual([complete(11), 61]);
  });

  it.for(["a request", "a question"])("is seen when it cannot be reached by %s", async (by, { expect }) => {
    const { id, key } = await createKey({ used: true });
    const KEY_LIMITER = unreachableLimiters();
    const held: Promise<unknown>[] = [];
    const cut = startApp({ KEY_LIMITER }, (promise) => held.push(promise));
    if (by === "a request") expect((await cut("/v1/nothing", { key })).status).toBe(503);
    else await operatorOf(cut)("GET", `/keys/${id}/usage`);
    await Promise.all(held);
    setClock(T0 + 120 * MINUTE);
    await expect.poll(() => seen()).toEqual(missing(9, id));
    await runMinuteCron({ KEY_LIMITER });
    setClock(T0 + 121 * MINUTE);
    expect(await seen()).toEqual(missing(9, id));
    await runMinuteCron();
    setClock(T0 + 122 * MINUTE);
    expect(await seen()).toEqual(complete(11));
  });

  it("stays if it fails again while the cron asks it", async ({ expect }) => {
    const { id } = await createKey({ used: true });
    const note = () => limiterOf("unreported-keys").noteUnreported({ id, location: null, sinceMs: T0 });
    await note();
    await runMinuteCron({ KEY_LIMITER: limiters(() => ({ flush: note })) });
    expect((await seen()).health).toBe(1);
    await runMinuteCron();
    setClock(T0 + MINUTE);
    expect((await seen()).health).toBe(0);
  });

  it("keeps the cron from asking thousands while none can report", async ({ expect }) => {
    const keys = Array.from({ length: 120 }, (_, i) => ({ id: `key_${i}`, location: null, sinceMs: T0 }));
    for (const key of keys) await limiterOf("unreported-keys").noteUnreported(key);
    let asked = 0;
    const flush = (fails: boolean) => async () => {
      asked++;
      if (fails) throw new Error("D1 is away");
    };
    await runMinuteCron({ KEY_LIMITER: limiters(() => ({ flush: flush(true) })) });
    expect(asked).toBe(50);
    await runMinuteCron({ KEY_LIMITER: limiters(() => ({ flush: flush(false) })) });
    expect([asked, (await seen()).health]).toEqual([170, 0]);
  });
});
