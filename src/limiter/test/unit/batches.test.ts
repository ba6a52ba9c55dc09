/**
 * Requests that share a call, in random histories of isolates on one object: hang-ups, crashes, writes that
 * fail, answers that are lost, and an object of an earlier version.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { runs } from "../../../../test/support/deep.ts";
import { seededRandom } from "../../../../test/support/random.ts";
import { admit, type LimiterCall, type LimiterNamespace, RateLimiter, type Verdict } from "../../index.ts";
import { Platform } from "./platform.ts";

const REQUESTS = 200;
const ISOLATES = 3;
const WAIT_MS = 3_000;
const TIMEOUT_MS = 2_000;
const LIMITS = [
  { name: "second", requests: 15, seconds: 1 },
  { name: "day", requests: 90, seconds: 86_400 },
];

/**
 * A request's context. After its client has hung up, only what was held before goes on. As in workerd, an event
 * that was due at that moment still runs, and then nothing more can be held.
 */
class Context {
  #hungUpAtMs = Number.POSITIVE_INFINITY;
  #held = 0;
  get isOver(): boolean {
    return this.#held === 0 && Date.now() >= this.#hungUpAtMs;
  }
  get mayRun(): boolean {
    return !this.isOver || Date.now() === this.#hungUpAtMs;
  }
  readonly hangUp = (): void => {
    this.#hungUpAtMs = Date.now();
  };
  readonly waitUntil = (held: Promise<unknown>): void => {
    if (Date.now() >= this.#hungUpAtMs) return;
    this.#held++;
    void held.finally(() => this.#held--);
  };
}

const contexts = new AsyncLocalStorage<Context | undefined>();

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 21, 12) });
  const { setTimeout } = globalThis;
  const ofContext = (call: () => void, ms?: number) => {
    const context = contexts.getStore();
    if (context?.isOver) return undefined;
    return setTimeout(() => context?.mayRun === false || call(), ms);
  };
  vi.stubGlobal("setTimeout", ofContext);
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

type Conditions = {
  readonly hangUps?: true;
  readonly failingWrites?: true;
  readonly olderObject?: true;
  readonly crashesAndLosses?: true;
};

type Sent = { readonly cost: number; readonly isHungUp: boolean; outcome?: Verdict | Error; tookMs?: number };

/** Returns the requests with what came of them, how often the object was called, and what it has counted. */
async function history(seed: number, conditions: Conditions) {
  const next = seededRandom(seed);
  const random = (below: number) => Math.floor(next() * below);
  vi.spyOn(Math, "random").mockImplementation(next);
  const platform = new Platform(RateLimiter, () => random(6));
  let calls = 0;
  let isOld = false;
  const overNetwork = async <T>(call: (object: RateLimiter) => Promise<T>): Promise<T> => {
    calls++;
    const isLost = conditions.crashesAndLosses && random(12) === 0;
    const answer = contexts.exit(async () => {
      await sleep(1 + random(4));
      const decided = await platform.answerOf(call);
      if (isLost) throw Object.assign(new Error("lost"), { durableObjectReset: random(2) === 0 });
      return decided;
    });
    await answer.catch(() => undefined);
    await sleep(random(4));
    return answer;
  };
  const isolate = () => {
    const stub = {
      admit: (call: LimiterCall) => overNetwork((object) => object.admit(call)),
      admitAll: (all: readonly LimiterCall[]) =>
        overNetwork((object) => {
          if (isOld) throw new TypeError('The RPC receiver does not implement the method "admitAll".');
          return object.admitAll(all);
        }),
    };
    return { getByName: () => stub } as unknown as LimiterNamespace; // the client calls nothing else here
  };
  const isolates = Array.from({ length: ISOLATES }, isolate);
  const sent: Sent[] = [];
  const send = (request: Sent) => {
    sent.push(request);
    const context = new Context();
    const { waitUntil } = context;
    if (request.isHungUp && random(4) === 0) context.hangUp();
    else if (request.isHungUp) setTimeout(context.hangUp, random(8));
    const startMs = Date.now();
    const settle = (outcome: Verdict | Error) =>
      Object.assign(request, { outcome, tookMs: Date.now() - startMs });
    const options = { key: "one", limits: LIMITS, cost: request.cost, timeoutMs: TIMEOUT_MS, waitUntil };
    const waitMs = random(10) === 0 ? WAIT_MS : undefined;
    const namespace = isolates[random(ISOLATES)] ?? isolate();
    void contexts.run(context, () =>
      admit(namespace, { ...options, waitMs }).then(({ verdict }) => settle(verdict), settle),
    );
  };
  const clients = async () => {
    while (sent.length < REQUESTS) {
      for (let together = 1 + random(40); together > 0; together--) {
        const cost = random(150) === 0 ? 0 : random(8) === 0 ? 2 : 1;
        send({ cost, isHungUp: conditions.hangUps === true && random(4) === 0 });
        if (random(8) === 0) await sleep(random(3));
      }
      await sleep(random(200));
      if (conditions.failingWrites) platform.isReadOnly = random(4) === 0;
      if (conditions.olderObject) isOld = random(2) === 0;
      if (conditions.crashesAndLosses && random(3) === 0) platform.crash();
    }
    await sleep(WAIT_MS + 2 * TIMEOUT_MS);
    platform.isReadOnly = false;
    return (await platform.object.inspect({ limits: LIMITS }))?.quota[1]?.used ?? 0;
  };
  const [used] = await Promise.all([clients(), vi.advanceTimersByTimeAsync(120_000)]);
  return { sent, calls, used };
}

const isVerdict = (outcome: Sent["outcome"]): outcome is Verdict =>
  outcome !== undefined && "kind" in outcome;

describe("requests that share a call", () => {
  it.for<[when: string, conditions: Conditions]>([
    ["when nothing fails", {}],
    ["when clients hang up", { hangUps: true }],
    ["when writes fail", { failingWrites: true }],
    ["when the object is of an earlier version", { olderObject: true }],
    [
      "when all of that happens, with crashes and lost answers",
      { hangUps: true, failingWrites: true, olderObject: true, crashesAndLosses: true },
    ],
  ])("are each counted once and answered, %s", async ([, conditions], { expect }) => {
    let [requests, calls] = [0, 0];
    for (let seed = 1; seed <= runs(5); seed++) {
      const done = await history(seed, conditions);
      requests += done.sent.length;
      calls += done.calls;
      const admitted = done.sent.filter(({ outcome }) => isVerdict(outcome) && outcome.kind === "admitted");
      // No number of a window is given twice.
      const numbers = admitted.flatMap(({ cost, outcome }) =>
        (isVerdict(outcome) && "quota" in outcome ? outcome.quota : []).flatMap(
          ({ name, startMs, used, limit }) => {
            expect(used).toBeLessThanOrEqual(limit);
            return Array.from({ length: cost }, (_, i) => `${name} ${startMs} ${used - i}`);
          },
        ),
      );
      expect(new Set(numbers).size).toBe(numbers.length);
      for (const { cost, isHungUp, outcome, tookMs = Number.NaN } of done.sent) {
        if (isHungUp) continue;
        expect(tookMs).toBeLessThanOrEqual(WAIT_MS + 2 * TIMEOUT_MS);
        if (cost === 0) expect(outcome).toBeInstanceOf(conditions.crashesAndLosses ? Error : RangeError);
        else if (!conditions.failingWrites)
          expect(outcome).not.toBeInstanceOf(conditions.crashesAndLosses ? RangeError : Error);
      }
      const isExact = !conditions.hangUps;
      const sum = admitted.reduce((total, { cost }) => total + cost, 0);
      if (isExact) expect(done.used).toBe(sum);
      else expect(done.used).toBeGreaterThanOrEqual(sum);
    }
    expect(calls / requests).toBeLessThan(conditions.olderObject ? 1.5 : 0.7);
  });
});

describe("a request that shares a call", () => {
  const limits = [{ name: "day", requests: 1_000, seconds: 86_400 }];
  /** An object that answers after half a second. */
  function start() {
    const platform = new Platform(RateLimiter);
    const sizes: number[] = [];
    const admitAll = async (all: readonly LimiterCall[]) => {
      sizes.push(all.length);
      await sleep(500);
      return platform.object.admitAll(all);
    };
    const stub = { admitAll, admit: async (call: LimiterCall) => (await admitAll([call]))[0] };
    const namespace = { getByName: () => stub } as unknown as LimiterNamespace; // the client calls nothing else here
    const ask = (timeoutMs: number) =>
      admit(namespace, { key: "one", limits, timeoutMs, waitUntil: () => undefined }).then(
        ({ verdict }) => verdict.kind,
        (error: Error) => error.name,
      );
    return { ask, sizes };
  }

  it("waits as long as it said and no longer than for its answer, and lets none wait less", async ({
    expect,
  }) => {
    const { ask } = start();
    const asked = [ask(2_000), ask(100), ask(2_000)];
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await Promise.all(asked)).toEqual(["admitted", "LimiterTimeoutError", "admitted"]);
  });

  it("shares it with at most 127 others", async ({ expect }) => {
    const { ask, sizes } = start();
    const asked = Array.from({ length: 301 }, () => ask(2_000));
    await vi.advanceTimersByTimeAsync(3_000);
    expect(new Set(await Promise.all(asked))).toEqual(new Set(["admitted"]));
    expect(sizes).toEqual([1, 128, 128, 44]);
  });
});
