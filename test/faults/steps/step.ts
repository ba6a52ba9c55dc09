/** One step of a model run, as fast-check draws, runs and shrinks it. */
import fc from "fast-check";
import { countIn } from "../model/tally.ts";
import type { World } from "../model/world.ts";
import { CALL_FAULTS, D1_FAULTS, type Faults, OBJECT_FAULTS } from "../worker/control.ts";

/** The world is model and service at once. */
export type Step = fc.AsyncCommand<World, World>;

/** A step of this name, with drawn parameters. */
export function step<T extends object>(
  name: string,
  parameters: { [K in keyof T]: fc.Arbitrary<T[K]> },
  run: (world: World, drawn: T) => Promise<unknown>,
): fc.Arbitrary<Step> {
  // fast-check's type of a record loses the names of the parameters.
  return (fc.record(parameters) as unknown as fc.Arbitrary<T>).map((drawn) => ({
    check: () => true,
    async run(world) {
      countIn(world.tally.steps, name);
      await run(world, drawn);
    },
    toString: () => `${name} ${JSON.stringify(drawn)}`,
  }));
}

export const isolate = fc.nat(2);
export const anyKey = fc.nat(7);

const d1 = fc.record({
  kind: fc.oneof(
    { weight: 7, arbitrary: fc.constantFrom("fail" as const, "lost" as const) },
    { weight: 1, arbitrary: fc.constantFrom(...D1_FAULTS) },
  ),
  skip: fc.nat(4),
  times: fc.constantFrom(1, 1, 1, 2, 5),
  error: fc.nat(4),
});
const call = fc.record({
  // A call that hangs takes a second of real time.
  kind: fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom("fail", "fail-reset", "lost", "lost-reset") } as const,
    { weight: 1, arbitrary: fc.constantFrom(...CALL_FAULTS) },
  ),
  skip: fc.nat(1),
});

/** Of a call that requests share. Where the object is reset in the middle, the order is not known. */
export const struckTogether: fc.Arbitrary<Faults> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.record({
      call: fc.record({
        kind: fc.constantFrom("fail", "fail-reset", "lost", "lost-reset"),
        skip: fc.constant(0),
      }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      object: fc.constantFrom("throw-before", "storage", "shared-fail", "shared-lost", "shared-reset"),
    }),
  },
);

/** Mostly none. */
export const faults: fc.Arbitrary<Faults> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: fc.record({ d1 }) },
  { weight: 1, arbitrary: fc.record({ call }) },
  { weight: 1, arbitrary: fc.record({ object: fc.constantFrom(...OBJECT_FAULTS) }) },
);

export const d1Faults: fc.Arbitrary<Faults> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.record({ d1 }) },
);

export const operatorFaults: fc.Arbitrary<Faults> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.record({ d1: d1 }) },
  { weight: 1, arbitrary: fc.record({ call }) },
);

export function at<T>(items: readonly T[], index: number): T {
  const item = items[index % items.length];
  if (item === undefined) throw new Error("there is no item to choose");
  return item;
}
