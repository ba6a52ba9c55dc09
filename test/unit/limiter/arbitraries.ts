/** Random limits, and random scenarios: requests of a key, changes by operators, crashes and clock changes. */
import fc from "fast-check";
import type { Limits } from "../../../src/worker/limiter/core/quota.ts";

/** A moment in 2026, often close before midnight UTC. */
export const startMs = fc.oneof(
  fc.integer({ min: 1_767_225_600_000, max: 1_798_761_599_999 }),
  fc
    .record({ day: fc.integer({ min: 20_454, max: 20_818 }), beforeMs: fc.integer({ min: 1, max: 200_000 }) })
    .map(({ day, beforeMs }) => day * 86_400_000 - beforeMs),
);

export const limits: fc.Arbitrary<Limits> = fc.record({
  perMinute: fc.integer({ min: 1, max: 50 }),
  perDay: fc.integer({ min: 1, max: 150 }),
});

/** Limits at which a burst reserves ahead. */
export const highLimits: fc.Arbitrary<Limits> = fc.record({
  perMinute: fc.integer({ min: 300, max: 2_000 }),
  perDay: fc.integer({ min: 300, max: 4_000 }),
});

export type Event =
  | { readonly kind: "requests"; readonly count: number; readonly gapMs: number }
  | { readonly kind: "clock"; readonly byMs: number }
  | { readonly kind: "limits"; readonly limits: Limits }
  | { readonly kind: "operatorBan"; readonly lengthMs: number }
  | { readonly kind: "lift"; readonly forgive: boolean }
  | { readonly kind: "restore" }
  | { readonly kind: "crash" }
  | { readonly kind: "flush" };

const requestsOf = (maxCount: number) =>
  fc.record({
    kind: fc.constant("requests" as const),
    count: fc.integer({ min: 1, max: maxCount }),
    gapMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 3_000 })),
  });

const later = fc.record({
  kind: fc.constant("clock" as const),
  byMs: fc.oneof(
    fc.integer({ min: 0, max: 5_000 }),
    fc.integer({ min: 0, max: 120_000 }),
    fc.integer({ min: 0, max: 2 * 86_400_000 }),
  ),
});

const earlier = fc.record({
  kind: fc.constant("clock" as const),
  byMs: fc.oneof(fc.integer({ min: -90_000, max: 0 }), fc.integer({ min: -2 * 86_400_000, max: 0 })),
});

const change = (limits: fc.Arbitrary<Limits>) => fc.record({ kind: fc.constant("limits" as const), limits });
const operatorBan = fc.record({
  kind: fc.constant("operatorBan" as const),
  lengthMs: fc.integer({ min: 1, max: 600_000 }),
});
const lift = fc.record({ kind: fc.constant("lift" as const), forgive: fc.boolean() });
const restore = fc.constant({ kind: "restore" as const });
const crash = fc.constant({ kind: "crash" as const });
const flush = fc.constant({ kind: "flush" as const });

const scenario = (...events: fc.WeightedArbitrary<Event>[]) =>
  fc.array(fc.oneof(...events), { minLength: 1, maxLength: 30 });

const usual = (maxCount: number): fc.WeightedArbitrary<Event>[] => [
  { arbitrary: requestsOf(maxCount), weight: 6 },
  { arbitrary: later, weight: 3 },
];

const changes: fc.WeightedArbitrary<Event>[] = [
  { arbitrary: earlier, weight: 1 },
  { arbitrary: change(limits), weight: 1 },
  { arbitrary: operatorBan, weight: 1 },
  { arbitrary: lift, weight: 1 },
  { arbitrary: restore, weight: 1 },
];

/** Without crashes, so that the number of admitted requests is known exactly. */
export const scenarioWithoutCrashes = scenario(...usual(60), ...changes);

/** With every kind of event. */
export const anyScenario = scenario(
  ...usual(60),
  ...changes,
  { arbitrary: crash, weight: 3 },
  { arbitrary: flush, weight: 1 },
);

/** Bursts that reserve ahead, with crashes, constant limits and a clock that runs forward, so that the loss is known. */
export const burstsAndCrashes = scenario(
  ...usual(700),
  { arbitrary: crash, weight: 3 },
  { arbitrary: flush, weight: 1 },
);

/** The same with limits that change in the middle of bursts. */
export const burstsAndChanges = scenario(
  ...usual(700),
  { arbitrary: change(highLimits), weight: 4 },
  { arbitrary: crash, weight: 2 },
  { arbitrary: flush, weight: 1 },
);
