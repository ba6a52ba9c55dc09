/**
 * Crashes, writes that fail, clocks that jump and changes of limits: no window ever admits more than its
 * limit, a crash loses at most the reserve, and what is reported adds up to what was decided.
 */

import fc from "fast-check";
import { afterEach, beforeEach, describe, it, vi } from "vitest";
import { runs } from "../../../../test/support/deep.ts";
import { type HourUsage, type Limit, type Policy, RateLimiter, type Report } from "../../index.ts";
import { type Counted, counted, Platform } from "./platform.ts";
import {
  bans,
  change,
  type Event,
  earlier,
  eventsOf,
  highLimits,
  just,
  later,
  limits,
  mixedLimits,
  moveClock,
  NOON,
  requests,
  settledRequests,
  sizesOf,
  variation,
  varied,
} from "./scenario.ts";

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(NOON);
});
afterEach(() => {
  vi.useRealTimers();
});

/** The receiver of reports keeps the last figures of each hour, and fails at random. */
const receiver = {
  hours: new Map<number, HourUsage>(),
  bans: new Map<string, number>(),
  fails: () => false,
  lowered: 0,
  hears: (_: RateLimiter): boolean => true,
};

class ReportingLimiter extends RateLimiter {
  static policy: Policy;
  override async loadPolicy() {
    return ReportingLimiter.policy;
  }
  override async report({ hours, bans }: Report) {
    if (!receiver.hears(this)) return;
    if (receiver.fails()) throw new Error("the report was lost");
    for (const hour of hours) {
      if (hour.admitted < (receiver.hours.get(hour.startMs)?.admitted ?? 0)) receiver.lowered++;
      receiver.hours.set(hour.startMs, hour);
    }
    for (const ban of bans) receiver.bans.set(ban.id, ban.strikes);
    if (receiver.fails()) throw new Error("the answer to the report was lost");
  }
}

type Step = {
  readonly verdict: Counted;
  readonly cost: number;
  readonly settleId: string | undefined;
  readonly limits: readonly Limit[];
};

let sent = 0;

/** Runs the events, and passes each decision and each crash on. Returns the platform. */
async function run(
  first: Policy,
  events: readonly Event[],
  on: { step(step: Step): void; crash(): void; settle?(settleId: string, cost: number): void },
): Promise<Platform<ReportingLimiter>> {
  const platform = new Platform(ReportingLimiter);
  receiver.hears = (object) => platform.isAlive(object);
  ReportingLimiter.policy = first;
  for (const event of events) {
    if (event.do === "clock") moveClock(event.byMs);
    if (event.do === "limits") ReportingLimiter.policy = { ...ReportingLimiter.policy, limits: event.limits };
    if (event.do === "vary")
      ReportingLimiter.policy = { ...ReportingLimiter.policy, limits: varied(first.limits, event) };
    if (event.do === "idle") await vi.advanceTimersByTimeAsync(2_100);
    if (event.do === "flush") await platform.object.flush().catch(() => undefined);
    if (event.do === "failing write") {
      platform.isReadOnly = true;
      const { limits } = ReportingLimiter.policy;
      await platform.object.admitAll([{}, {}]).then(
        // Within the reserve no write is needed.
        (verdicts) => {
          for (const verdict of verdicts)
            on.step({ verdict: counted(verdict), cost: 1, settleId: undefined, limits });
        },
        () => undefined,
      );
      platform.isReadOnly = false;
    }
    if (event.do === "crash") {
      platform.crash();
      on.crash();
    }
    if (event.do !== "requests") continue;
    const { cost, settled } = event;
    for (const size of sizesOf(event)) {
      const calls = Array.from({ length: size }, (_, i) => ({
        cost,
        settleId: settled === null ? undefined : `${sent++} ${i}`,
      }));
      await platform.object.forget();
      const verdicts = await platform.object.admitAll(calls);
      moveClock(event.gapMs);
      for (const [i, { settleId }] of calls.entries()) {
        const verdict = counted(verdicts[i]);
        on.step({ verdict, cost, settleId, limits: ReportingLimiter.policy.limits });
        if (settleId === undefined || settled === null || verdict.kind !== "admitted") continue;
        await platform.object.settle(settleId, Math.min(settled, cost));
        on.settle?.(settleId, Math.min(settled, cost));
      }
    }
  }
  return platform;
}

const nothing = { step: () => undefined, crash: () => undefined };

/** The sum of what each window admitted. */
class Windows {
  readonly admitted = new Map<string, number>();
  readonly #settles = new Map<string, (cost: number) => void>();
  keysOf({ verdict }: Step): { key: string; limit: number }[] {
    return verdict.quota.map(({ seconds, startMs, limit }) => ({ key: `${seconds} ${startMs}`, limit }));
  }
  add(step: Step): void {
    const keys = this.keysOf(step);
    const spend = (cost: number) => {
      for (const { key } of keys) this.admitted.set(key, (this.admitted.get(key) ?? 0) + cost);
    };
    spend(step.cost);
    this.#settles.set(step.settleId ?? "", (cost) => spend(cost - step.cost));
  }
  settle(settleId: string, cost: number): void {
    this.#settles.get(settleId)?.(cost);
  }
}

/** A tenth of the smallest limit when the last request was admitted. Below 300, nothing. */
function mostReserved(present: readonly Limit[]): number {
  const lengthOf = ({ seconds }: Limit) => (seconds === "month" ? 2_592_000 : seconds);
  const smallest = present.reduce((a, b) => (lengthOf(b) < lengthOf(a) ? b : a));
  return smallest.requests < 300 ? 0 : Math.floor(Math.min(...present.map((each) => each.requests)) / 10);
}

describe("crashes", () => {
  it("never make a window admit more than its limit, whatever the clock and the limits do", async ({
    expect,
  }) => {
    const events = (to: fc.Arbitrary<readonly Limit[]>, count: number) =>
      eventsOf(
        [8, requests(count)],
        [3, settledRequests(count)],
        [3, later],
        [2, earlier],
        [2, change(to)],
        [4, just("crash")],
        [1, just("idle")],
        [1, just("failing write")],
      );
    const property = (to: fc.Arbitrary<readonly Limit[]>, count: number) =>
      fc.asyncProperty(to, bans, events(to, count), async (first, rule, all) => {
        const windows = new Windows();
        const step = (each: Step) => {
          if (each.verdict.kind !== "admitted") return;
          windows.add(each);
          for (const { key, limit } of windows.keysOf(each))
            expect(windows.admitted.get(key)).toBeLessThanOrEqual(limit);
        };
        vi.setSystemTime(NOON);
        const settle = (settleId: string, cost: number) => windows.settle(settleId, cost);
        await run({ limits: first, bans: rule }, all, { ...nothing, step, settle });
      });
    await fc.assert(property(limits, 60), { numRuns: runs(20) });
    await fc.assert(property(highLimits, 700), { numRuns: runs(10) });
  });

  it("lose at most the reserve each, and nothing where the smallest limit is below 300", async ({
    expect,
  }) => {
    const events = (count: number) =>
      eventsOf(
        [8, requests(count)],
        [2, later],
        [3, variation],
        [4, just("crash")],
        [1, just("idle")],
        [1, just("failing write")],
      );
    const property = (to: fc.Arbitrary<readonly Limit[]>, count: number) =>
      fc.asyncProperty(to, events(count), async (first, all) => {
        const windows = new Windows();
        let lost = 0;
        let reserve = 0;
        const step = (each: Step) => {
          const { verdict } = each;
          if (verdict.kind === "admitted") {
            windows.add(each);
            reserve = mostReserved(each.limits);
          }
          if (verdict.kind !== "limited") return;
          const used = windows.admitted.get(`${verdict.window.seconds} ${verdict.window.startMs}`) ?? 0;
          expect(used + each.cost + lost).toBeGreaterThan(verdict.window.limit);
        };
        const crash = () => {
          lost += reserve;
        };
        vi.setSystemTime(NOON);
        await run({ limits: first }, all, { step, crash });
      });
    await fc.assert(property(limits, 60), { numRuns: runs(15) });
    await fc.assert(property(mixedLimits, 700), { numRuns: runs(15) });
  });

  // So the property above can fail. The first request stores its cost and a block of 100.
  it.for([
    [1, 101 + 10, 101 + 10],
    [5, 105 + 50, 21 + 10],
  ] as const)("lose a block sometimes, with cost %d", async ([cost, used, admitted], { expect }) => {
    const high = [{ name: "day", requests: 1_000, seconds: 86_400 }];
    const burst = { do: "requests", count: 10, gapMs: 0, cost, settled: null } as const;
    const platform = await run({ limits: high }, [burst, { do: "crash" }, burst], nothing);
    expect((await platform.object.inspect())?.quota[0]?.used).toBe(used);
    receiver.fails = () => false;
    receiver.hours.clear();
    await platform.object.flush();
    expect([...receiver.hours.values()].map((hour) => hour.admitted)).toEqual([admitted]);
  });

  it("lose at most a tenth of a limit that was lowered in the burst", async ({ expect }) => {
    const burst = (count: number) => ({ do: "requests", count, gapMs: 0, cost: 1, settled: null }) as const;
    const lower = { do: "vary", windows: 1, factor: 0.1 } as const;
    const high = [{ name: "minute", requests: 10_000, seconds: 60 }];
    const platform = await run({ limits: high }, [burst(200), lower, burst(20), { do: "crash" }], nothing);
    expect((await platform.object.inspect())?.quota[0]?.used).toBeLessThanOrEqual(220 + 100);
  });

  it("keeps a ban, and never uses up a window", async ({ expect }) => {
    const burst = (count: number, gapMs: number) =>
      ({ do: "requests", count, gapMs, cost: 1, settled: null }) as const;
    const limits = [{ name: "day", requests: 1_000, seconds: 86_400 }];
    const almost = await run({ limits }, [burst(995, 0), { do: "crash" }], nothing);
    expect((await almost.object.inspect())?.quota[0]?.remaining).toBeGreaterThan(0);
    // Without reports, which store the state first.
    const banned = new Platform(RateLimiter);
    const day = [{ name: "day", requests: 1, seconds: 86_400 }];
    const ask = async () => {
      vi.setSystemTime(Date.now() + 2_000);
      return (await banned.object.admit({ limits: day, bans: { strikes: 2 } })).kind;
    };
    const kinds = [await ask(), await ask(), await ask(), await ask()];
    banned.crash();
    expect([...kinds, await ask()]).toEqual(["admitted", "limited", "limited", "banned", "banned"]);
  });
});

describe("settlements that are delivered at least once", () => {
  /** `final`: what the request has cost in the end, at most its cost; null: it is never settled. */
  type Round = {
    readonly cost: number;
    readonly final: number | null;
    readonly isDelivered: boolean;
    readonly after: "crash" | "idle" | null;
    /** The sender repeats all that it has delivered, because it does not know what has arrived. */
    readonly isRepeated: boolean;
  };
  const rounds = (maxCost: number): fc.Arbitrary<Round[]> => {
    const round = fc.integer({ min: 1, max: maxCost }).chain((cost) =>
      fc.record<Round>({
        cost: fc.constant(cost),
        final: fc.option(fc.nat(cost), { freq: 4 }),
        isDelivered: fc.boolean(),
        after: fc.constantFrom("crash", "idle", null, null),
        isRepeated: fc.boolean(),
      }),
    );
    return fc.array(round, { minLength: 1, maxLength: 30 });
  };

  it("give back what was not used, once: no window admits more than its limit", async ({ expect }) => {
    const property = (to: fc.Arbitrary<number>, maxCost: number) =>
      fc.asyncProperty(to, rounds(maxCost), async (limit, all) => {
        vi.setSystemTime(NOON);
        const platform = new Platform(RateLimiter);
        const call = { limits: [{ name: "month", requests: limit, seconds: "month" as const }] };
        const delivered = new Map<string, number>();
        const deliver = async (settleId: string, final: number) => {
          delivered.set(settleId, final);
          await platform.object.settle(settleId, final);
        };
        const admitted: { settleId: string | undefined; cost: number }[] = [];
        const used = () =>
          admitted.reduce((sum, { settleId = "", cost }) => sum + (delivered.get(settleId) ?? cost), 0);
        for (const [i, { cost, final, isDelivered, after, isRepeated }] of all.entries()) {
          const settleId = final === null ? undefined : `${i}`;
          const { kind } = await platform.object.admit({ ...call, cost, settleId });
          if (kind === "admitted") {
            admitted.push({ settleId, cost });
            expect(used()).toBeLessThanOrEqual(limit);
            if (settleId !== undefined && final !== null && isDelivered) await deliver(settleId, final);
          }
          if (after === "crash") platform.crash();
          if (after === "idle") await vi.advanceTimersByTimeAsync(2_100);
          if (isRepeated) for (const each of delivered) await deliver(...each);
        }
      });
    await fc.assert(property(fc.integer({ min: 1, max: 3 }), 2), { numRuns: runs(300) });
    await fc.assert(property(fc.integer({ min: 300, max: 320 }), 160), { numRuns: runs(100) });
  });

  it("report each request, though a crash came before the exact count was stored", async ({ expect }) => {
    receiver.fails = () => false;
    receiver.hours.clear();
    ReportingLimiter.policy = { limits: [{ name: "day", requests: 1_000, seconds: 86_400 }] };
    const platform = new Platform(ReportingLimiter);
    receiver.hears = (object) => platform.isAlive(object);
    for (const settleId of ["a", "b", "c"]) {
      await platform.object.admit({ settleId });
      await platform.object.settle(settleId, 0);
    }
    platform.crash();
    await platform.object.flush();
    expect([...receiver.hours.values()].map(({ admitted }) => admitted)).toEqual([3]);
  });
});

type Figures = {
  admitted: number;
  refused: number;
  refusedWhileBanned: number;
  minutes: Record<string, number>;
};

function figuresOf(hour: HourUsage | undefined): Figures {
  const { admitted = 0, refused = 0, refusedWhileBanned = 0, refusedMinutes = [] } = hour ?? {};
  const minutes = refusedMinutes.flatMap(({ minute, by }) =>
    Object.entries(by).map(([name, count]) => [`${minute} ${name}`, count] as const),
  );
  return { admitted, refused, refusedWhileBanned, minutes: Object.fromEntries(minutes) };
}

/** Decisions by hour, counted by the test. */
class Decided {
  readonly hours = new Map<number, Figures>();
  readonly bans = new Set<string>();
  add({ verdict }: Step): void {
    if (verdict.kind === "too_costly") return;
    const startMs = Math.floor(verdict.nowMs / 3_600_000) * 3_600_000;
    const hour = this.hours.get(startMs) ?? figuresOf(undefined);
    this.hours.set(startMs, hour);
    if (verdict.kind === "admitted") hour.admitted++;
    if (verdict.kind === "limited") hour.refused++;
    if (verdict.kind === "banned") hour.refusedWhileBanned++;
    if (verdict.kind === "banned") this.bans.add(verdict.ban.id ?? "");
    const by = verdict.kind === "limited" ? verdict.window.name : "ban";
    const minute = `${Math.floor((verdict.nowMs - startMs) / 60_000)} ${by}`;
    if (verdict.kind !== "admitted") hour.minutes[minute] = (hour.minutes[minute] ?? 0) + 1;
  }
}

describe("usage", () => {
  const start = (seed: number) => {
    vi.setSystemTime(NOON);
    receiver.hours.clear();
    receiver.bans.clear();
    receiver.lowered = 0;
    let calls = seed;
    receiver.fails = () => calls++ % 3 === 0;
  };
  /** Without a flush, the alarm brings what is left. */
  const finish = async (platform: Platform<ReportingLimiter>, isFlushed: boolean) => {
    receiver.fails = () => false;
    if (isFlushed) await platform.object.flush();
    else await vi.advanceTimersByTimeAsync(3 * 3_600_000);
  };

  it("adds up by hour and minute, with reports that fail and are repeated", async ({ expect }) => {
    const events = eventsOf(
      [8, requests(60)],
      [4, later],
      [2, just("idle")],
      [1, just("flush")],
      [1, change(limits)],
    );
    const property = fc.asyncProperty(limits, bans, events, fc.nat(2), async (first, rule, all, seed) => {
      start(seed);
      const decided = new Decided();
      await finish(
        await run({ limits: first, bans: rule }, all, { ...nothing, step: (step) => decided.add(step) }),
        seed === 0,
      );
      const reported = [...receiver.hours].map(([startMs, hour]) => [startMs, figuresOf(hour)] as const);
      expect(new Map(reported)).toEqual(decided.hours);
      expect(new Set(receiver.bans.keys())).toEqual(decided.bans);
    });
    await fc.assert(property, { numRuns: runs(20) });
  });

  it("with crashes has at most the reserve of each too much, as the quota has", async ({ expect }) => {
    const events = eventsOf(
      [8, requests(700, 1)],
      [2, later],
      [3, just("crash")],
      [1, just("idle")],
      [1, just("flush")],
    );
    const property = fc.asyncProperty(highLimits, events, fc.nat(2), async (first, all, seed) => {
      start(seed);
      const decided = new Decided();
      let crashes = 0;
      const counts = { step: (step: Step) => decided.add(step), crash: () => crashes++ };
      await finish(await run({ limits: first }, all, counts), seed === 0);
      const sum = (hours: Iterable<{ admitted: number }>) =>
        [...hours].reduce((all, { admitted }) => all + admitted, 0);
      const [reported, admitted] = [sum(receiver.hours.values()), sum(decided.hours.values())];
      expect(receiver.lowered).toBe(0);
      expect(reported).toBeGreaterThanOrEqual(admitted);
      expect(reported).toBeLessThanOrEqual(admitted + crashes * mostReserved(first));
      for (const [startMs, hour] of receiver.hours)
        expect(hour.refused).toBeLessThanOrEqual(decided.hours.get(startMs)?.refused ?? 0);
    });
    await fc.assert(property, { numRuns: runs(15) });
  });
});
