/** Random plans and random lives of a key. */
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

export type Event =
  | { readonly kind: "requests"; readonly count: number; readonly gapMs: number }
  | { readonly kind: "clock"; readonly byMs: number }
  | { readonly kind: "limits"; readonly limits: Limits }
  | { readonly kind: "evict" }
  | { readonly kind: "quiet" };

const requests = fc.record({
  kind: fc.constant("requests" as const),
  count: fc.integer({ min: 1, max: 60 }),
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

const change = fc.record({ kind: fc.constant("limits" as const), limits });
const evict = fc.constant({ kind: "evict" as const });
const quiet = fc.constant({ kind: "quiet" as const });

const life = (...events: fc.WeightedArbitrary<Event>[]) =>
  fc.array(fc.oneof(...events), { minLength: 1, maxLength: 30 });

const usual: fc.WeightedArbitrary<Event>[] = [
  { arbitrary: requests, weight: 6 },
  { arbitrary: later, weight: 3 },
];

/** A life without evictions, so that what is admitted can be told exactly. */
export const undisturbedLife = life(
  ...usual,
  { arbitrary: earlier, weight: 1 },
  { arbitrary: change, weight: 1 },
);

/** Everything at once. */
export const anyLife = life(
  ...usual,
  { arbitrary: earlier, weight: 1 },
  { arbitrary: change, weight: 1 },
  { arbitrary: evict, weight: 3 },
  { arbitrary: quiet, weight: 1 },
);

/** Evictions with a steady clock and steady limits, so that what they cost can be told. */
export const evictedLife = life(...usual, { arbitrary: evict, weight: 3 }, { arbitrary: quiet, weight: 1 });
