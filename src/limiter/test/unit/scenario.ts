/** Random policies and events for the real object on the fake platform. */
import fc from "fast-check";
import { vi } from "vitest";
import type { BanRule, Limit, Policy, WindowLength } from "../../index.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
export const NOON = Date.UTC(2026, 10, 21, 12);

const DIVISORS_OF_A_DAY = Array.from({ length: 86_400 }, (_, i) => i + 1).filter((s) => 86_400 % s === 0);

/** One to four windows of any length, small limits, in any order. */
export const limits: fc.Arbitrary<readonly Limit[]> = limitsOf({ min: 1, max: 60 });

/** Limits at which bursts reserve ahead. The window is long, so that it is not over before a crash. */
export const highLimits: fc.Arbitrary<readonly Limit[]> = limitsOf({ min: 300, max: 2_000 });

/** Limits that reserve and limits that do not, as when an operator lowers a limit in a burst. */
export const mixedLimits: fc.Arbitrary<readonly Limit[]> = limitsOf({ min: 20, max: 20_000 });

function limitsOf(requests: { min: number; max: number }): fc.Arbitrary<readonly Limit[]> {
  const usual = fc.constantFrom<WindowLength>(1, 60, 90, 3_600, 86_400, 604_800, "month");
  const seconds = fc.oneof(usual, fc.constantFrom(...DIVISORS_OF_A_DAY));
  return fc
    .uniqueArray(fc.record({ seconds, requests: fc.integer(requests) }), {
      minLength: 1,
      maxLength: 4,
      selector: (limit) => limit.seconds,
    })
    .map((all) => all.map((limit) => ({ ...limit, name: `w${limit.seconds}` })));
}

export const bans: fc.Arbitrary<BanRule | undefined> = fc.constantFrom(
  undefined,
  {},
  {},
  { strikes: 5 },
  { strikes: 3, firstSeconds: 20_000 },
);

export type Event =
  | {
      readonly do: "requests";
      readonly count: number;
      /** Whether they share a call. */
      readonly together?: boolean;
      readonly gapMs: number;
      readonly cost: number;
      /** What each has cost in the end; null: it is not settled. */
      readonly settled: number | null;
    }
  | { readonly do: "clock"; readonly byMs: number }
  | { readonly do: "limits"; readonly limits: readonly Limit[] }
  | { readonly do: "vary"; readonly windows: number; readonly factor: number }
  | { readonly do: "block"; readonly lengthMs: number }
  | { readonly do: "pardon" | "crash" | "idle" | "failing write" | "flush" };

export const requests = (maxCount: number, maxCost = 4): fc.Arbitrary<Event> =>
  fc.record({
    do: fc.constant("requests" as const),
    count: fc.integer({ min: 1, max: maxCount }),
    together: fc.boolean(),
    gapMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 3_000 })),
    cost: fc.oneof(
      { weight: 4, arbitrary: fc.constant(1) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: maxCost }) },
    ),
    settled: fc.constant(null),
  });

/** Requests whose cost turns out to be another. */
export const settledRequests = (maxCount: number, maxCost = 4): fc.Arbitrary<Event> =>
  fc
    .tuple(requests(maxCount, maxCost), fc.nat(maxCost))
    .map(([event, cost]) => (event.do === "requests" ? { ...event, settled: cost } : event));

/** The sizes of the calls that bring the requests of an event. */
export const sizesOf = ({ count, together }: { count: number; together?: boolean }): number[] =>
  together ? [count] : Array(count).fill(1);

export const later: fc.Arbitrary<Event> = fc.record({
  do: fc.constant("clock" as const),
  byMs: fc.oneof(
    fc.integer({ min: 0, max: 5_000 }),
    fc.integer({ min: 0, max: 2 * MINUTE }),
    fc.integer({ min: 0, max: 2 * DAY }),
  ),
});

export const earlier: fc.Arbitrary<Event> = fc.record({
  do: fc.constant("clock" as const),
  byMs: fc.oneof(fc.integer({ min: -90_000, max: 0 }), fc.integer({ min: -2 * DAY, max: 0 })),
});

export const change = (to: fc.Arbitrary<readonly Limit[]>): fc.Arbitrary<Event> =>
  fc.record({ do: fc.constant("limits" as const), limits: to });

/** The first few of the limits that a scenario began with, lowered or raised. */
export const variation: fc.Arbitrary<Event> = fc.record({
  do: fc.constant("vary" as const),
  windows: fc.integer({ min: 1, max: 4 }),
  factor: fc.constantFrom(0.1, 0.5, 1, 1, 2),
});

export function varied(
  limits: readonly Limit[],
  { windows, factor }: { windows: number; factor: number },
): readonly Limit[] {
  return limits
    .slice(0, windows)
    .map((each) => ({ ...each, requests: Math.max(1, Math.floor(each.requests * factor)) }));
}

export const block: fc.Arbitrary<Event> = fc.record({
  do: fc.constant("block" as const),
  lengthMs: fc.integer({ min: 1, max: 600_000 }),
});

export const just = (name: "pardon" | "crash" | "idle" | "failing write" | "flush"): fc.Arbitrary<Event> =>
  fc.constant({ do: name });

export function eventsOf(
  ...weighted: [weight: number, arbitrary: fc.Arbitrary<Event>][]
): fc.Arbitrary<Event[]> {
  const all = weighted.map(([weight, arbitrary]) => ({ weight, arbitrary }));
  return fc.array(fc.oneof(...all), { minLength: 1, maxLength: 30 });
}

/** Sets the clock without running timers. */
export function moveClock(byMs: number): void {
  vi.setSystemTime(Math.max(0, Date.now() + byMs));
}

export function withBlock(policy: Policy, lengthMs: number): Policy {
  return { ...policy, blocked: { endsAtMs: Date.now() + lengthMs, reason: "test" } };
}
