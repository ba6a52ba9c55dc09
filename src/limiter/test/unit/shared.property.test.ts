/**
 * Keys that share a limiter: random histories of requests, changes, crashes and lost answers. No limit admits a
 * request too many, and without a fault each limiter has counted exactly the requests that both have admitted.
 */
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { runs } from "../../../../test/support/deep.ts";
import { seededRandom } from "../../../../test/support/random.ts";
import { type LimiterCall, type Policy, perMinute, RateLimiter, type Verdict } from "../../index.ts";
import { Platform } from "./platform.ts";

const NOON = Date.UTC(2026, 10, 21, 12);
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

beforeEach(() => {
  vi.useFakeTimers({ now: NOON });
});
afterEach(() => {
  vi.useRealTimers();
});

type Limits = { readonly own: number; shared: number | null };
type Admission = { readonly key: number; readonly minute: number; readonly sharedMinute: number | undefined };

async function history(seed: number, hasFaults: boolean) {
  const next = seededRandom(seed);
  const random = (below: number) => Math.floor(next() * below);
  const limits: Limits = { own: [3, 8, 400][random(3)] ?? 0, shared: [1, 12, 30, 500][random(4)] ?? 0 };
  const policy = (): Policy => ({ limits: [perMinute(limits.own)], shared: "us", bans: { strikes: 2 } });
  const strikes: number[] = [];
  class SharedLimiter extends RateLimiter {
    override async loadPolicy() {
      await sleep(random(9));
      const ours = { name: "ours", requests: limits.shared ?? 0, seconds: 300 };
      return limits.shared === null ? null : { limits: [ours] };
    }
  }
  const shared = new Platform(SharedLimiter, () => 1 + random(8));
  const stub = {
    inspect: () => shared.answerOf((object) => object.inspect()),
    async admitAll(calls: readonly LimiterCall[]) {
      await sleep(random(30));
      const fault = hasFaults ? random(12) : 0;
      if (fault === 1) throw new Error("the call was lost");
      const verdicts = await shared.answerOf((object) => object.admitAll(calls));
      await sleep(random(30));
      if (fault === 2) throw new Error("the answer was lost");
      return verdicts;
    },
  };
  class KeyLimiter extends RateLimiter {
    constructor(ctx: DurableObjectState, env: unknown) {
      super(ctx, env, { shared: { getByName: () => stub } });
    }
    override async loadPolicy() {
      await sleep(random(9));
      return policy();
    }
  }
  const keys = Array.from({ length: 1 + random(5) }, () => new Platform(KeyLimiter, () => 1 + random(8)));
  const admissions: Admission[] = [];
  const wrong: string[] = [];
  const startOf = (verdict: Verdict, name: string) =>
    "quota" in verdict ? verdict.quota.find((window) => window.name === name)?.startMs : undefined;
  const client = async (key: Platform<KeyLimiter>, i: number) => {
    for (let sent = 0; sent < 8; sent++) {
      await sleep(random(100) + (hasFaults && random(5) === 0 ? random(40_000) : 0));
      const calls = Array.from({ length: 1 + random(5) }, () => ({}));
      const verdicts = await key.answerOf((object) => object.admitAll(calls)).catch(() => []);
      for (const verdict of verdicts) {
        const minute = startOf(verdict, "minute");
        const sharedMinute = startOf(verdict, "ours");
        if (verdict.kind === "admitted" && minute !== undefined)
          admissions.push({ key: i, minute, sharedMinute });
        if (verdict.kind !== "limited") continue;
        const full = verdict.quota.filter(({ remaining }) => remaining === 0);
        if (verdict.strikes !== null && full.every(({ name }) => name === "ours"))
          strikes.push(verdict.strikes.count);
        const waitMs = Math.max(...full.map(({ endsAtMs }) => endsAtMs)) - verdict.nowMs;
        if (verdict.retryAfterMs !== waitMs || verdict.window.remaining !== 0)
          wrong.push(`refused by ${verdict.window.name} for ${verdict.retryAfterMs}, not ${waitMs}`);
      }
    }
  };
  const crashes = async () => {
    for (let i = 0; hasFaults && i < 5; i++) {
      await sleep(random(9_000));
      [shared, ...keys][random(keys.length + 1)]?.crash();
    }
  };
  let isDone = false;
  const done = Promise.all([...keys.flatMap((key, i) => [client(key, i), client(key, i)]), crashes()]).then(
    () => {
      isDone = true;
    },
  );
  // Until the exact counts are stored, and not until idle objects delete theirs.
  while (!isDone) await vi.advanceTimersByTimeAsync(5_000);
  await done;
  const countedBy = (
    platform: Platform<RateLimiter>,
    minuteOf: (admission: Admission) => number | undefined,
  ) => {
    const [{ used, startMs } = { used: 0, startMs: 0 }] = platform.row?.counts ?? [];
    return { used, admitted: admissions.filter((each) => minuteOf(each) === startMs).length };
  };
  const most = (counts: Iterable<readonly unknown[]>) =>
    Math.max(0, ...Array.from(counts, (each) => each.length));
  return {
    limits,
    wrong,
    strikes,
    admitted: admissions.length,
    ofKey: most(Map.groupBy(admissions, ({ key, minute }) => `${key} ${minute}`).values()),
    together: most(Map.groupBy(admissions, ({ sharedMinute }) => sharedMinute).values()),
    /** Of the last minute in which each has counted. Without faults it is the only one. */
    counts: [
      ...keys.map((key, i) => countedBy(key, ({ key: each, minute }) => (each === i ? minute : undefined))),
      countedBy(shared, ({ sharedMinute }) => sharedMinute),
    ],
  };
}

describe("keys that share a limiter", () => {
  it("admit no more than each limit, whatever fails", async ({ expect }) => {
    let admitted = 0;
    for (let seed = 1; seed <= runs(60); seed++) {
      const { limits, ofKey, together, wrong, strikes, ...found } = await history(seed, true);
      admitted += found.admitted;
      expect([wrong, strikes], `seed ${seed}`).toEqual([[], []]);
      expect(ofKey, `seed ${seed}`).toBeLessThanOrEqual(limits.own);
      expect(together, `seed ${seed}`).toBeLessThanOrEqual(limits.shared ?? 0);
    }
    expect(admitted).toBeGreaterThan(1_000);
  });

  it("take nothing of each other's refusals", async ({ expect }) => {
    for (let seed = 1; seed <= runs(40); seed++) {
      const { counts } = await history(seed, false);
      for (const { used, admitted } of counts) expect(used, `seed ${seed}`).toBe(admitted);
    }
  });
});
