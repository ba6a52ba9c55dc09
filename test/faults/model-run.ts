/** The model run: random steps against isolates of the real Worker, each compared with the model. */
import fc from "fast-check";
import { TooSlow } from "./model/client.ts";
import { countIn, newTally } from "./model/tally.ts";
import { type Conditions, World } from "./model/world.ts";
import type { Found, Plan } from "./part.ts";
import type { FaultService } from "./service.ts";
import { clientSteps } from "./steps/client-steps.ts";
import { keySteps } from "./steps/key-steps.ts";
import { orderSteps } from "./steps/order-steps.ts";
import type { Step } from "./steps/step.ts";
import { timeSteps } from "./steps/time-steps.ts";

export const ISOLATES = 3;

const MAX_STEPS_PER_RUN = 80;

export async function runModel(
  service: FaultService,
  plan: Plan & { readonly steps: number },
): Promise<Found> {
  const tally = newTally();
  let runs = 0;
  let failedAtMs: number | undefined;
  const stepsDone = () => [...tally.steps.values()].reduce((sum, count) => sum + count, 0);
  const steps = fc.oneof(
    { weight: 8, arbitrary: fc.oneof(...clientSteps) },
    { weight: 5, arbitrary: fc.oneof(...timeSteps) },
    { weight: 3, arbitrary: fc.oneof(...orderSteps) },
    { weight: 4, arbitrary: fc.oneof(...keySteps) },
  );
  const property = fc.asyncProperty(
    conditions,
    fc.array(steps, { minLength: 1, maxLength: MAX_STEPS_PER_RUN, size: "max" }),
    async (conditions, drawn) => {
      // Once a run has failed, fast-check runs parts of it, and the first failure among them counts.
      const isOver = () =>
        failedAtMs === undefined && (stepsDone() >= plan.steps || Date.now() >= plan.untilMs);
      if (isOver() || (failedAtMs !== undefined && Date.now() >= failedAtMs + SHRINK_MS)) return;
      try {
        await runSteps(new World(service, tally, conditions), drawn, isOver);
      } catch (thrown) {
        failedAtMs ??= Date.now();
        throw thrown;
      }
      plan.progress?.(`${stepsDone()} of ${plan.steps} steps`);
      runs++;
    },
  );
  const result = await fc.check(property, {
    seed: plan.seed,
    ...(plan.path === undefined ? {} : { path: plan.path }),
    numRuns: Math.ceil(plan.steps / 10),
    endOnFailure: false,
  });
  const { requests, sharing } = tally;
  return {
    title: `Model run: ${runs} runs, ${requests} requests, ${sharing} by another's call, seed ${plan.seed}`,
    rows: [
      ...sorted("step", tally.steps),
      ...sorted("fault", tally.faults),
      ...sorted("status", tally.statuses),
    ],
    failures: result.failed ? [describe(result)] : [],
  };
}

function sorted(kind: string, counts: ReadonlyMap<string, number>): [string, number][] {
  const all = [...counts].sort(([a], [b]) => a.localeCompare(b));
  return all.map(([name, count]) => [`${kind} ${name}`, count]);
}

/** The clocks of Workers decide nothing about a key. */
const skewMs = fc.constantFrom(0, -2_500, -1_500, -400, 400, 3_000);
const conditions: fc.Arbitrary<Conditions> = fc.record({
  skewsMs: fc.tuple(fc.constant(0), skewMs, skewMs),
});

/** Shrinking stops after this time. */
const SHRINK_MS = 60_000;

async function runSteps(world: World, steps: readonly Step[], isOver: () => boolean): Promise<void> {
  await world.begin();
  for (const [number, each] of steps.entries()) {
    if (isOver()) break;
    try {
      await each.run(world, world);
    } catch (thrown) {
      if (thrown instanceof TooSlow) return countIn(world.tally.steps, "given up: the machine was too busy");
      throw new Error(`step ${number + 1}, ${each}`, { cause: thrown });
    }
  }
  await world.end();
}

function describe({
  counterexample,
  counterexamplePath,
  seed,
  errorInstance,
}: fc.RunDetails<[Conditions, Step[]]>): string {
  const [conditions, steps] = counterexample ?? [];
  const causes =
    errorInstance instanceof Error ? [errorInstance.message, String(errorInstance.cause ?? "")] : [];
  return [
    ...causes,
    `Again: npm run test:faults -- --seed ${seed} --path ${counterexamplePath}`,
    `The shrunk steps, with ${JSON.stringify(conditions)}:`,
    ...(steps ?? []).map((each) => `  ${each}`),
  ].join("\n");
}
