/**
 * After an operator's change was acknowledged, no request that is sent then is decided by an older policy:
 * random interleavings of requests, loads, changes, `forget` and evictions, where D1 runs batches one after
 * the other and answers late.
 */

import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { runs } from "../../../../test/support/deep.ts";
import { seededRandom } from "../../../../test/support/random.ts";
import { perMinute, RateLimiter, type RateLimiterOptions } from "../../index.ts";
import { counted, Platform } from "./platform.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** One table with one key, whose version stands for its policy. */
const d1 = { version: 1, isUsed: false, isDown: false, loads: 0, takesMs: () => 1 };

/** One batch takes effect at one moment between the call and its answer. */
async function batch<T>(effect: () => T): Promise<T> {
  await sleep(d1.takesMs());
  if (d1.isDown) throw new Error("D1 is down");
  const result = effect();
  await sleep(d1.takesMs());
  return result;
}

class D1Limiter extends RateLimiter {
  constructor(ctx: DurableObjectState, env: unknown, options?: RateLimiterOptions) {
    super(ctx, env, { ...options, keep: true });
  }
  override loadPolicy() {
    return batch(() => {
      d1.isUsed = true;
      d1.loads++;
      return { limits: [perMinute(1_000)], facts: { version: d1.version } };
    });
  }
}

/** A policy of up to a day decides, and is loaded again behind the answer. */
class SleepyLimiter extends D1Limiter {
  constructor(ctx: DurableObjectState, env: unknown) {
    super(ctx, env, { policyMaxAgeMs: 86_400_000, policyRefreshMs: 30_000 });
  }
}

async function admit(platform: Platform<D1Limiter>) {
  const verdict = counted(await platform.object.admit({}));
  return Number(verdict.facts.version);
}

const reset = (takesMs = () => 1) =>
  Object.assign(d1, { version: 1, isUsed: false, isDown: false, loads: 0, takesMs });

type Told = { decisions: number; changes: number; old: number; lost: number };

/** Decisions by a policy that is older than the operator was told, in one random history. */
async function history(
  limiter: new (ctx: DurableObjectState, env: unknown) => D1Limiter,
  seed: number,
  forgetOf: (platform: Platform<D1Limiter>) => Promise<void>,
): Promise<Told> {
  const next = seededRandom(seed);
  const random = (below: number) => Math.floor(next() * below);
  reset(() => 1 + random(40));
  const platform = new Platform(limiter, () => 1 + random(8));
  const told: Told = { decisions: 0, changes: 0, old: 0, lost: 0 };
  let acknowledged = 1;
  const lose = () => {
    told.lost++;
  };
  const client = async () => {
    for (let i = 0; i < 12; i++) {
      await sleep(random(120) + (random(10) === 0 ? 31_000 : 0) + (random(25) === 0 ? 61_000 : 0));
      const known = acknowledged;
      await sleep(random(15));
      const decide = async (object: D1Limiter) => counted(await object.admit({})).facts.version;
      await platform.answerOf(decide).then((version) => {
        told.decisions++;
        if (Number(version) < known) told.old++;
      }, lose);
    }
  };
  const operator = async () => {
    for (let i = 0; i < 4; i++) {
      await sleep(random(250) + (random(6) === 0 ? 30_000 : 0));
      const { version, isUsed } = await batch(() => ({ version: ++d1.version, isUsed: d1.isUsed }));
      await sleep(random(15));
      const isTold =
        !isUsed ||
        (await forgetOf(platform).then(
          () => random(8) > 0,
          () => false,
        ));
      await sleep(random(15));
      if (isTold) acknowledged = Math.max(acknowledged, version);
      told.changes++;
    }
  };
  const crashes = async () => {
    for (let i = 0; i < 6; i++) {
      await sleep(random(random(2) === 0 ? 400 : 30_000));
      platform.crash();
    }
  };
  const all = Promise.all([client(), client(), client(), operator(), crashes()]);
  // Whatever happens first: a failed expectation must not wait for the timers.
  await Promise.all([all, vi.runAllTimersAsync()]);
  return told;
}

const forget = (platform: Platform<D1Limiter>) => platform.answerOf((object) => object.forget());

async function sumOf(
  limiter: Parameters<typeof history>[0],
  forgetOf: Parameters<typeof history>[2],
): Promise<Told> {
  const sum: Told = { decisions: 0, changes: 0, old: 0, lost: 0 };
  for (let seed = 1; seed <= runs(60); seed++) {
    const told = await history(limiter, seed, forgetOf);
    for (const name of ["decisions", "changes", "old", "lost"] as const) sum[name] += told[name];
  }
  return sum;
}

describe("a change that was acknowledged", () => {
  it.for([
    ["a policy that is a minute old at most", D1Limiter],
    ["a policy that slept with its key", SleepyLimiter],
  ] as const)("decides every request that is sent afterwards, with %s", async ([, limiter], { expect }) => {
    const { decisions, changes, old, lost } = await sumOf(limiter, forget);
    expect({ old, all: decisions + lost, changes }).toEqual({
      old: 0,
      all: runs(60) * 36,
      changes: runs(60) * 4,
    });
    expect(decisions).toBeGreaterThan(lost);
  });
});

describe("the policy in memory", () => {
  const settled = async <T>(promise: Promise<T>) => {
    await vi.advanceTimersByTimeAsync(10);
    return promise;
  };

  it("is loaded once for calls at the same time, and not again within half of its maximum age", async ({
    expect,
  }) => {
    reset();
    const platform = new Platform(D1Limiter);
    await settled(Promise.all(Array.from({ length: 20 }, () => admit(platform))));
    await vi.advanceTimersByTimeAsync(29_000);
    await settled(admit(platform));
    expect(d1.loads).toBe(1);
  });

  it("is loaded in the background from half of its maximum age on, and waited for past it", async ({
    expect,
  }) => {
    reset();
    const platform = new Platform(D1Limiter);
    await settled(admit(platform));
    d1.version = 2;
    await vi.advanceTimersByTimeAsync(31_000);
    expect(await settled(admit(platform))).toBe(1);
    expect(await settled(admit(platform))).toBe(2);
    d1.version = 3;
    await vi.advanceTimersByTimeAsync(61_000);
    expect(await settled(admit(platform))).toBe(3);
    expect(d1.loads).toBe(3);
  });

  it("is used while it cannot be loaded, until it is too old: then the call rejects", async ({ expect }) => {
    reset();
    const platform = new Platform(D1Limiter);
    await settled(admit(platform));
    d1.isDown = true;
    await vi.advanceTimersByTimeAsync(59_000);
    expect(await settled(admit(platform))).toBe(1);
    await vi.advanceTimersByTimeAsync(2_000);
    const late = admit(platform).catch((error: Error) => error.message);
    expect(await settled(late)).toBe("D1 is down");
    d1.isDown = false;
    expect(await settled(admit(platform))).toBe(1);
  });
});
