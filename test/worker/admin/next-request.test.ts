/**
 * An operator's change decides every request that is sent after the answer, wherever a load of the policy was
 * meanwhile; and when a rotated secret ends. Every change is in changes.test.ts.
 */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { maskKey } from "../../../src/worker/key/key.ts";
import { addSecret, createKey, type TestKey } from "../../support/factories.ts";
import { setClock, startApp, startEachTestAt, watchPolicyLoads } from "../../support/worker.ts";
import { isolatesInUse, operatorOf, statusesAt } from "./admin-support.ts";
import { EFFECTS, prepare, seenAt, T0 } from "./changes.ts";

const SECONDS = 1_000;

const operator = operatorOf(startApp());

startEachTestAt(T0);

/** One trigger asks whether a key has been used that changes, another asks for the keys of a plan. */
const TWO = EFFECTS.filter(({ what }) => ["revoking", "the limits of its plan"].includes(what));

type Hold = (query: () => Promise<D1Result[]>, released: Promise<void>) => Promise<D1Result[]>;

const onItsWayBack: Hold = async (query, released) => {
  const results = await query();
  await released;
  return results;
};

type Held = { readonly hold: Hold; readonly isMark?: true };

/** Where the load of a key's first use is while the operator makes the change. */
const LOADS: Readonly<Record<string, Held>> = {
  "on its way to D1": {
    hold: async (query, released) => {
      await released;
      return query();
    },
  },
  "on its way back": { hold: onItsWayBack },
  "on its way back, and the key is marked": { hold: onItsWayBack, isMark: true },
};

/** Begins a request whose load of the policy is held where `hold` says, and waits until the load is there. */
async function requestWithLoadHeld({ key }: TestKey, { hold, isMark }: Held) {
  const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let isFirst = true;
  watchPolicyLoads().wrap((query, isMarking) => {
    if (!isFirst || isMarking !== (isMark ?? false)) return query();
    isFirst = false;
    held.resolve();
    return hold(query, released.promise);
  });
  const answered = startApp()("/v1/none", { key });
  await held.promise;
  // D1 runs one batch after the other: when this is answered, a load that is on its way back has been run.
  await env.DB.prepare("select 1").first();
  return { release: released.resolve, answered };
}

describe.for(Object.entries(LOADS))("while the policy is %s", ([, held]) => {
  it.for(TWO)("the next request from each isolate is decided by $what", async (effect, { expect }) => {
    const { key, change } = await prepare(effect);
    const underWay = await requestWithLoadHeld(key, held);
    expect((await change(operator)).body.effective).toBe("immediately");
    const isolates = [startApp(), startApp(), startApp()];
    const seen = seenAt(isolates, key);
    underWay.release();
    expect(await seen).toEqual(Array(3).fill(effect.after));
    await underWay.answered;
    expect(await seenAt(isolates, key)).toEqual(Array(3).fill(effect.after));
  });
});

it("an undo decides the next request of each key", async ({ expect }) => {
  const keys = [await createKey(), await createKey()];
  const ids = keys.map(({ id }) => id);
  const isolates = await Promise.all(keys.map(({ key }) => isolatesInUse(key)));
  const seen = () => Promise.all(keys.map(({ key }, i) => statusesAt(isolates[i] ?? [], key)));
  await operator("POST", "/keys/disable", { ids });
  expect(await seen()).toEqual(Array(2).fill([401, 401, 401]));
  const [entry] = (await operator("GET", `/audit?object=${ids[0]}&limit=1`)).body.audit as { id: number }[];
  expect((await operator("POST", `/audit/${entry?.id}/undo`, { together: true })).status).toBe(200);
  expect(await seen()).toEqual(Array(2).fill([200, 200, 200]));
});

describe("the grace period of a rotation", () => {
  /** Secrets end by D1's clock, which is the real one. */
  const realTimeMs = () => Math.floor(performance.timeOrigin + performance.now());
  const startAtRealTime = () => {
    const nowMs = realTimeMs();
    setClock(nowMs);
    return nowMs;
  };
  const endOf = (body: Record<string, unknown>, key: string) => {
    const secrets = body.secrets as { hint: string; expiresAt: string | null }[]; // the documented shape
    return Date.parse(secrets.find(({ hint }) => hint === maskKey(key))?.expiresAt ?? "");
  };

  it("keeps the old secret valid until its last millisecond", async ({ expect }) => {
    const nowMs = startAtRealTime();
    const { id, key } = await createKey();
    const isolates = await isolatesInUse(key);
    const { body } = await operator("POST", `/keys/${id}/rotate`, { graceSeconds: 3_000 });
    const endMs = endOf(body, key);
    // Rounded down to a second, and later by the time that the call took.
    expect(endMs).toBeGreaterThan(nowMs + 2_999 * SECONDS);
    expect(endMs).toBeLessThanOrEqual(realTimeMs() + 3_000 * SECONDS);
    setClock(endMs - 1);
    expect(await statusesAt(isolates, key)).toEqual([200, 200, 200]);
    setClock(endMs);
    expect(await statusesAt(isolates, key)).toEqual([401, 401, 401]);
    expect(await statusesAt(isolates, body.key)).toEqual([200, 200, 200]);
  });

  it("never exceeds the secret's own expiry, nor the key's", async ({ expect }) => {
    const nowSeconds = Math.floor(startAtRealTime() / 1000);
    const { id, key } = await createKey({ expiresAt: nowSeconds + 5_000 });
    const expiring = await addSecret(id, nowSeconds + 2_000);
    const { body } = await operator("POST", `/keys/${id}/rotate`, { graceSeconds: 36_000 });
    expect(endOf(body, expiring)).toBe((nowSeconds + 2_000) * SECONDS);
    const isolates = await isolatesInUse(key);
    setClock((nowSeconds + 2_000) * SECONDS);
    expect(await statusesAt(isolates, expiring)).toEqual([401, 401, 401]);
    expect(await statusesAt(isolates, key)).toEqual([200, 200, 200]);
    setClock((nowSeconds + 5_000) * SECONDS);
    for (const secret of [key, body.key]) expect(await statusesAt(isolates, secret)).toEqual([401, 401, 401]);
  });

  it("is ended, but not extended, by a second rotation, also if the limiter's clock is behind", async ({
    expect,
  }) => {
    setClock(startAtRealTime() - 10 * SECONDS);
    const { id, key } = await createKey();
    const first = await operator("POST", `/keys/${id}/rotate`, { graceSeconds: 600 });
    const second = await operator("POST", `/keys/${id}/rotate`, { graceSeconds: 6_000 });
    expect(endOf(second.body, key)).toBe(endOf(first.body, key));
    await operator("POST", `/keys/${id}/rotate`);
    expect(await statusesAt([startApp()], key)).toEqual([401]);
    expect(await statusesAt([startApp()], second.body.key)).toEqual([401]);
  });
});
