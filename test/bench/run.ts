/**
 * `npm run bench`: what each kind of request costs, as ratios within one run. Absolute figures depend on the machine.
 *
 * Exit codes: 0 measured; 1 the service did not start or gave an unexpected answer; 2 wrong usage.
 */
import { SingleBar } from "cli-progress";
import { Command, CommanderError, InvalidArgumentError } from "commander";
import { measureCosts, measureSpeed, type Plan } from "./measure.ts";
import { printResults, type Result, resultsOf } from "./report.ts";
import { buildWorker } from "./service.ts";

const MAX_REQUESTS_PER_ROUND = 20_000;
const MAX_ROUNDS = 20;
const FULL: Plan = { requests: 2_000, rounds: 5 };
const QUICK: Plan = { requests: 500, rounds: 3 };

type Options = {
  readonly requests?: number;
  readonly rounds?: number;
  readonly quick?: true;
  readonly json?: true;
};

async function run(plan: Plan): Promise<Result[]> {
  const bar = new SingleBar({
    format: "{bar} {value}/{total}  {step}",
    stream: process.stderr,
    clearOnComplete: true,
  });
  bar.start(7 * (plan.rounds + 1), 0, { step: "building" });
  const onStep = (step: string) => {
    bar.increment(1, { step });
    if (!process.stderr.isTTY) console.error(step);
  };
  try {
    const script = await buildWorker();
    return resultsOf(await measureSpeed(script, plan, onStep), await measureCosts(script, onStep));
  } finally {
    bar.stop();
  }
}

const atMost = (max: number) => (text: string) => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > max)
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  return value;
};

const program = new Command("npm run bench --")
  .description("Measures what each kind of request costs, on this machine only, as ratios within one run.")
  .option(
    "--requests <n>",
    `requests for each case and round (default: ${FULL.requests})`,
    atMost(MAX_REQUESTS_PER_ROUND),
  )
  .option("--rounds <n>", `rounds, of which the median counts (default: ${FULL.rounds})`, atMost(MAX_ROUNDS))
  .option("--quick", `${QUICK.rounds} rounds of ${QUICK.requests} requests`)
  .option("--json", "the results as JSON")
  .exitOverride();

try {
  const { quick, json, ...given } = program.parse().opts<Options>();
  const plan = { ...(quick ? QUICK : FULL), ...given };
  const results = await run(plan);
  if (json) console.log(JSON.stringify(results));
  else printResults(results, plan);
} catch (thrown) {
  if (thrown instanceof CommanderError) process.exit(thrown.exitCode === 0 ? 0 : 2);
  console.error(thrown instanceof Error ? thrown.message : String(thrown));
  process.exit(1);
}
