/** Callers that wait, simulated with the real client and object: how often they ask, and who is admitted. */
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { seededRandom } from "../../../../test/support/random.ts";
import {
  type AdmitOptions,
  admit,
  type Limit,
  type LimiterCall,
  RateLimiter,
  type Verdict,
} from "../../index.ts";
import { counted, Platform } from "./platform.ts";

const SECOND = 1_000;
const START = Date.UTC(2026, 10, 21, 12);
const FIVE_A_SECOND: Limit = { name: "second", requests: 5, seconds: 1 };

beforeEach(() => {
  vi.useFakeTimers({ now: START });
  const random = seededRandom(1);
  vi.spyOn(Math, "random").mockImplementation(random);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** One object behind a network that takes some milliseconds. Without turns each refusal names the window's end. */
function start({ hasTurns = true, isShared = false } = {}) {
  const platform = new Platform(RateLimiter);
  const calls = { count: 0 };
  const admitted: number[] = [];
  const admitAll = async (all: readonly LimiterCall[]) => {
    calls.count++;
    await new Promise((resolve) => setTimeout(resolve, 3));
    const asked = all.map(({ waitMs, ...call }) => (hasTurns ? { ...call, waitMs } : call));
    const verdicts = await platform.object.admitAll(asked);
    for (const { kind, nowMs } of verdicts.map(counted)) if (kind === "admitted") admitted.push(nowMs);
    return verdicts;
  };
  const stub = { admitAll, admit: async (call: LimiterCall) => (await admitAll([call]))[0] };
  // The client calls nothing else here.
  const namespace = { getByName: () => stub } as unknown as Parameters<typeof admit>[0];
  const ask = (options: Partial<AdmitOptions>) =>
    admit(namespace, {
      ...{ key: "queue", limits: [FIVE_A_SECOND], ...options },
      ...(isShared && { waitUntil: () => undefined }),
    }).then(({ verdict }) => verdict);
  /** So many at once, each waiting. */
  const askAll = (count: number, options: Partial<AdmitOptions>) =>
    Promise.all(Array.from({ length: count }, () => ask(options)));
  return { platform, calls, admitted, ask, askAll };
}

/** How many were admitted in each second from the first on. */
function bySecond(admitted: readonly number[]): number[] {
  const seconds = admitted.map((atMs) => Math.floor((atMs - START) / SECOND));
  return Array.from(
    { length: Math.max(...seconds) + 1 },
    (_, i) => seconds.filter((each) => each === i).length,
  );
}

/** 60 jobs at 5 a second, in two batches: the second comes when the first is done. */
async function runJobs(options: Parameters<typeof start>[0]) {
  const queue = start(options);
  const first = queue.askAll(30, { waitMs: 60 * SECOND });
  await vi.advanceTimersByTimeAsync(6 * SECOND);
  const second = queue.askAll(30, { waitMs: 60 * SECOND });
  await vi.advanceTimersByTimeAsync(60 * SECOND);
  const kinds = new Set([...(await first), ...(await second)].map(({ kind }) => kind));
  return { ...queue, kinds };
}

describe("60 jobs that wait for 5 a second", () => {
  it("are admitted in 12 seconds, and each asks at most twice", async ({ expect }) => {
    const { calls, admitted, kinds } = await runJobs({});
    expect([...kinds]).toEqual(["admitted"]);
    expect(bySecond(admitted)).toEqual(Array(12).fill(5));
    // Five of each batch are admitted at once.
    expect(calls.count).toBe(60 + 50);
  });
});

describe("callers that wait", () => {
  it("ask at most twice if they are a thousand, and as often a second as the limit allows", async ({
    expect,
  }) => {
    const { calls, admitted, askAll } = start();
    const all = askAll(1_000, { waitMs: 300 * SECOND });
    await vi.advanceTimersByTimeAsync(300 * SECOND);
    await all;
    expect([calls.count, admitted.length]).toEqual([1_995, 1_000]);
    expect(new Set(bySecond(admitted))).toEqual(new Set([5]));
  });

  it("are refused at once if their turn is too late, and take no place from others", async ({ expect }) => {
    const { calls, askAll } = start();
    const hasty = askAll(100, { waitMs: 2_500 });
    await vi.advanceTimersByTimeAsync(100);
    const patient = askAll(5, { waitMs: 10 * SECOND });
    await vi.advanceTimersByTimeAsync(10 * SECOND);
    const kinds = (verdicts: readonly Verdict[]) => verdicts.filter(({ kind }) => kind === "admitted").length;
    // Five at once, and five in each of the two seconds that they wait for.
    expect([kinds(await hasty), kinds(await patient)]).toEqual([15, 5]);
    expect(calls.count).toBe(100 + 10 + 5 + 5);
  });

  it("never wait longer than they said", async ({ expect }) => {
    const { ask, askAll } = start();
    void askAll(60, { waitMs: 60 * SECOND });
    const late = ask({ waitMs: 3 * SECOND });
    const settled = late.then(() => Date.now() - START);
    await vi.advanceTimersByTimeAsync(60 * SECOND);
    expect([(await late).kind, await settled]).toEqual(["limited", 3]);
  });

  it.for<[what: string, limits: Limit[], cost: number, kind: string]>([
    ["a request that costs more than the limit", [FIVE_A_SECOND], 6, "too_costly"],
    ["a day that is used up", [{ name: "day", requests: 0, seconds: 86_400 }], 1, "limited"],
  ])("are told at once that they wait in vain: %s", async ([, limits, cost, kind], { expect }) => {
    const { ask } = start();
    const asked = ask({ limits, cost, waitMs: 30 * SECOND });
    await vi.advanceTimersByTimeAsync(10);
    expect((await asked).kind).toBe(kind);
  });

  it("go on after the object has lost its memory", async ({ expect }) => {
    const { platform, admitted, askAll } = start();
    const all = askAll(30, { waitMs: 60 * SECOND });
    await vi.advanceTimersByTimeAsync(2_500);
    platform.crash();
    await vi.advanceTimersByTimeAsync(60 * SECOND);
    await all;
    expect(bySecond(admitted)).toEqual([5, 5, 5, 5, 5, 5]);
  });
});
