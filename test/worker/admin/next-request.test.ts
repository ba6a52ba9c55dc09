/**
 * An operator's change decides every request that is sent after the answer, from every isolate, wherever a load of the policy was meanwhile.
 * Random interleavings are in test/unit/limiter-package/policy.property.test.ts; this file shows that the service keeps to that protocol.
 */
import { env } from "cloudflare:workers";
import { describe, it } from "vitest";
import { maskKey } from "../../../src/worker/auth/key.ts";
import { hashKey } from "../../../src/worker/auth/mac.ts";
import { addSecret, createKey, type TestKey } from "../../support/factories.ts";
import {
  type App,
  runMinuteCron,
  setClock,
  startApp,
  startEachTestAt,
  watchPolicyLoads,
} from "../../support/worker.ts";
import { isolatesInUse, operatorOf, statusesAt, unreachableLimiters } from "./admin-support.ts";

const T0 = Date.UTC(2033, 0, 1, 12);
const SECONDS = 1_000;
/** Counts like any other request, and needs no query. */
const NONE = "/v1/none";

const operator = operatorOf(startApp());
const withoutLimiters = operatorOf(startApp({ KEY_LIMITER: unreachableLimiters() }));

startEachTestAt(T0);

type Change = {
  readonly what: string;
  readonly key: () => Promise<TestKey>;
  readonly request: (key: TestKey) => Promise<[method: string, path: string, body?: object]>;
  /** The status of a request without a route, and the limit of a minute if the status is 404: the request was admitted. */
  readonly before: string;
  readonly after: string;
  /** How much later the change takes effect, if that is what it says. */
  readonly inMs?: number;
};

const patch = (body: object) => async (key: TestKey) =>
  ["PATCH", `/keys/${key.id}`, body] as [string, string, object];

const changes: Change[] = [
  {
    what: "revoking",
    key: createKey,
    request: async ({ id }) => ["DELETE", `/keys/${id}`],
    before: "404 1000",
    after: "401",
  },
  { what: "disabling", key: createKey, request: patch({ disabled: true }), before: "404 1000", after: "401" },
  {
    what: "enabling",
    key: () => createKey({ status: "disabled" }),
    request: patch({ disabled: false }),
    before: "401",
    after: "404 1000",
  },
  {
    what: "a rotation without a grace period",
    key: createKey,
    request: async ({ id }) => ["POST", `/keys/${id}/rotate`, {}],
    before: "404 1000",
    after: "401",
  },
  {
    what: "retiring a secret",
    key: async () => {
      const key = await createKey();
      await addSecret(key.id);
      return key;
    },
    request: async ({ id, key }) => ["DELETE", `/keys/${id}/secrets/${(await hashKey(key)).slice(0, 16)}`],
    before: "404 1000",
    after: "401",
  },
  {
    what: "another plan",
    key: () => createKey({ plan: "free" }),
    request: patch({ plan: "pro" }),
    before: "404 60",
    after: "404 300",
  },
  {
    what: "own limits",
    key: createKey,
    request: patch({ requestsPerMinute: 77 }),
    before: "404 1000",
    after: "404 77",
  },
  {
    what: "temporary limits",
    key: createKey,
    request: async ({ id }) => ["POST", `/keys/${id}/temporary-limits`, { requestsPerMinute: 88, days: 1 }],
    before: "404 1000",
    after: "404 88",
  },
  {
    what: "the limits of its plan",
    key: () => createKey({ plan: "pro" }),
    request: async () => ["PATCH", "/plans/pro", { requestsPerMinute: 222 }],
    before: "404 300",
    after: "404 222",
  },
  {
    what: "a ban",
    key: createKey,
    request: async ({ id }) => ["PUT", `/keys/${id}/ban`, { seconds: 600, reason: "test" }],
    before: "404 1000",
    after: "429",
  },
  {
    what: "a lift",
    key: async () => {
      const key = await createKey();
      await operator("PUT", `/keys/${key.id}/ban`, { seconds: 600, reason: "test" });
      return key;
    },
    request: async ({ id }) => ["DELETE", `/keys/${id}/ban`],
    before: "429",
    after: "404 1000",
  },
  {
    what: "an expiry",
    key: createKey,
    request: patch({ expiresAt: "2033-01-01T12:00:20Z" }),
    before: "404 1000",
    after: "401",
    inMs: 20 * SECONDS,
  },
  {
    what: "a later expiry",
    key: () => createKey({ expiresAt: T0 / 1000 + 10 }),
    request: patch({ expiresAt: "2033-01-02T12:00:00Z" }),
    before: "404 1000",
    after: "404 1000",
    inMs: 20 * SECONDS,
  },
];

/** One trigger asks whether a key has been used that changes, another asks for the keys of a plan. */
const AT_FIRST_USE = ["revoking", "the limits of its plan"];

type Hold = (query: () => Promise<D1Result[]>, released: Promise<void>) => Promise<D1Result[]>;

const onItsWayBack: Hold = async (query, released) => {
  const results = await query();
  await released;
  return results;
};

type Held = { readonly hold: Hold; readonly isMark?: true };
type Load = { readonly held?: Held; readonly isFirstUse: readonly boolean[] };

/** Where a load of the policy is while the operator makes the change. Only a first load has a query that marks. */
const LOADS: Readonly<Record<string, Load>> = {
  "in memory": { isFirstUse: [false] },
  "on its way to D1": {
    held: {
      hold: async (query, released) => {
        await released;
        return query();
      },
    },
    isFirstUse: [false, true],
  },
  "on its way back": { held: { hold: onItsWayBack }, isFirstUse: [false, true] },
  "on its way back, and the key is marked": {
    held: { hold: onItsWayBack, isMark: true },
    isFirstUse: [true],
  },
};

function seenAt(isolates: readonly App[], { key }: TestKey): Promise<string[]> {
  return Promise.all(
    isolates.map(async (call) => {
      const { status, headers } = await call(NONE, { key });
      const limit = /q=(\d+);w=60/.exec(headers.get("RateLimit-Policy") ?? "")?.[1];
      return status === 404 ? `${status} ${limit}` : String(status);
    }),
  );
}

const thrice = (seen: string) => [seen, seen, seen];

/** The limits of plans are those of the next test, too. */
const restorePlan = () => operator("PATCH", "/plans/pro", { requestsPerMinute: 300 });

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
  const answered = startApp()(NONE, { key });
  await held.promise;
  // D1 runs one batch after the other: a load that is on its way back has been run when this has been answered.
  await env.DB.prepare("select 1").first();
  return { release: released.resolve, answered };
}

describe.for(Object.entries(LOADS))(
  "while the policy is %s, on the next request from each isolate holds",
  ([, { held, isFirstUse: uses }]) => {
    for (const isFirstUse of uses) {
      it.for(isFirstUse ? changes.filter(({ what }) => AT_FIRST_USE.includes(what)) : changes)(
        `$what${isFirstUse ? ", in the middle of the key's first use" : ""}`,
        async (change, { expect }) => {
          const key = await change.key();
          const isolates = isFirstUse ? [startApp(), startApp(), startApp()] : await isolatesInUse(key.key);
          let underWay: Awaited<ReturnType<typeof requestWithLoadHeld>> | undefined;
          if (held) {
            await env.KEY_LIMITER.getByName(key.id).forget();
            underWay = await requestWithLoadHeld(key, held);
          } else expect(await seenAt(isolates, key)).toEqual(thrice(change.before));

          const { status, body } = await operator(...(await change.request(key)));
          expect([status, body.effective]).toEqual([200, "immediately"]);
          setClock(T0 + (change.inMs ?? 0));
          const seen = seenAt(isolates, key);
          underWay?.release();
          expect(await seen).toEqual(thrice(change.after));
          await underWay?.answered;
          expect(await seenAt(isolates, key)).toEqual(thrice(change.after));
          await restorePlan();
        },
      );
    }
  },
);

describe("with the key's first use between the operator's reading and writing, on the next request holds", () => {
  it.for(changes)("$what", async (change, { expect }) => {
    const key = await change.key();
    const request = await change.request(key);
    let underWay: Awaited<ReturnType<typeof requestWithLoadHeld>> | undefined;
    const batch = async (statements: D1PreparedStatement[]) => {
      underWay ??= await requestWithLoadHeld(key, { hold: onItsWayBack, isMark: true });
      return env.DB.batch(statements);
    };
    // The app uses these two members only.
    const DB = { prepare: (sql: string) => env.DB.prepare(sql), batch } as unknown as D1Database;
    const { status, body } = await operatorOf(startApp({ DB }))(...request);
    expect([status, body.effective]).toEqual([200, "immediately"]);
    setClock(T0 + (change.inMs ?? 0));
    const seen = seenAt([startApp(), startApp(), startApp()], key);
    underWay?.release();
    expect(await seen).toEqual(thrice(change.after));
    await underWay?.answered;
    await restorePlan();
  });
});

describe("while the limiter cannot be reached, a change takes effect within minutes, and says so", () => {
  it.for(changes)("$what", async (change, { expect }) => {
    const key = await change.key();
    const isolates = await isolatesInUse(key.key);
    const { status, body } = await withoutLimiters(...(await change.request(key)));
    expect([status, body.effective]).toEqual([200, "within minutes"]);
    await runMinuteCron({ KEY_LIMITER: unreachableLimiters() });
    expect(await seenAt(isolates, key)).toEqual(thrice(change.before));
    await runMinuteCron();
    setClock(T0 + (change.inMs ?? 0));
    expect(await seenAt(isolates, key)).toEqual(thrice(change.after));
    await restorePlan();
  });
});

describe("the grace period of a rotation", () => {
  /** Secrets end by D1's clock, which is the real one. */
  const startAtRealTime = () => {
    const nowMs = Math.floor(performance.timeOrigin + performance.now());
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
    const { body } = await operator("POST", `/keys/${id}/rotate`, { graceSeconds: 30 });
    const endMs = endOf(body, key);
    expect((endMs - nowMs) / 1000).toBeCloseTo(30, -1);
    setClock(endMs - 1);
    expect(await statusesAt(isolates, key)).toEqual([200, 200, 200]);
    setClock(endMs);
    expect(await statusesAt(isolates, key)).toEqual([401, 401, 401]);
    expect(await statusesAt(isolates, body.key)).toEqual([200, 200, 200]);
  });

  it("has one quota for both secrets", async ({ expect }) => {
    const { id, key } = await createKey({ perDay: 6 });
    const { body } = await operator("POST", `/keys/${id}/rotate`, { graceSeconds: 1_000_000 });
    const isolates = [startApp(), startApp(), startApp()];
    setClock(startAtRealTime());
    expect(await statusesAt(isolates, key)).toEqual([200, 200, 200]);
    expect(await statusesAt(isolates, body.key)).toEqual([200, 200, 200]);
    expect(await statusesAt(isolates, key)).toEqual([429, 429, 429]);
  });

  it("never exceeds the secret's own expiry, nor the key's", async ({ expect }) => {
    const nowSeconds = Math.floor(startAtRealTime() / 1000);
    const { id, key } = await createKey({ expiresAt: nowSeconds + 50 });
    const expiring = await addSecret(id, nowSeconds + 20);
    const { body } = await operator("POST", `/keys/${id}/rotate`, { graceSeconds: 3_600 });
    expect(endOf(body, expiring)).toBe((nowSeconds + 20) * SECONDS);
    const isolates = await isolatesInUse(key);
    setClock((nowSeconds + 20) * SECONDS);
    expect(await statusesAt(isolates, expiring)).toEqual([401, 401, 401]);
    expect(await statusesAt(isolates, key)).toEqual([200, 200, 200]);
    setClock((nowSeconds + 50) * SECONDS);
    for (const secret of [key, body.key]) expect(await statusesAt(isolates, secret)).toEqual([401, 401, 401]);
  });

  it("is ended, but not extended, by a second rotation", async ({ expect }) => {
    startAtRealTime();
    const { id, key } = await createKey();
    const first = await operator("POST", `/keys/${id}/rotate`, { graceSeconds: 60 });
    const second = await operator("POST", `/keys/${id}/rotate`, { graceSeconds: 600 });
    expect(endOf(second.body, key)).toBe(endOf(first.body, key));
    await operator("POST", `/keys/${id}/rotate`);
    expect(await statusesAt([startApp()], key)).toEqual([401]);
    expect(await statusesAt([startApp()], second.body.key)).toEqual([401]);
  });
});
