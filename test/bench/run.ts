/**
 * `npm run bench`: what requests cost, here and with other limiters, as ratios within one run. Absolute figures depend on
 * the machine. A full run also tests what each limiter guarantees, and measures lists of up to a million orders.
 *
 * Exit codes: 0 measured; 1 the service did not start or gave an unexpected answer; 2 wrong usage.
 */
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { SingleBar } from "cli-progress";
import { Command, Option } from "commander";
import { runTool } from "../../src/tools/run-tool.ts";
import { wholeNumber } from "../support/whole-number.ts";
import { buildWorker } from "./build.ts";
import { CASE_COUNT } from "./cases.ts";
import { testGuarantees } from "./guarantees.ts";
import { FIGURE_STEPS, measureListFigures } from "./list-figures.ts";
import { LIST_COUNT, LIST_SIZES, measureLists, QUICK_LIST_SIZES } from "./lists.ts";
import { measureCosts, measureSpeed, type OnStep, type Plan } from "./measure.ts";
import { plot } from "./plot.ts";
import { measureRegions, printRegions, REGION_STEP_COUNT } from "./regions.ts";
import { printResults } from "./report.ts";
import { caseResults, type Results, slowClientResult } from "./results.ts";
import { printScaling, SCENARIOS, scale } from "./scaling.ts";
import { SUBJECTS } from "./subjects.ts";

const MAX_REQUESTS_PER_ROUND = 20_000;
const MAX_ROUNDS = 20;
const FULL: Plan = { requests: 2_000, rounds: 5 };
const QUICK: Plan = { requests: 400, rounds: 3 };

type Options = {
  readonly requests?: number;
  readonly rounds?: number;
  readonly quick?: true;
  readonly lists?: true;
  readonly regions?: true;
  readonly scaling?: true;
  readonly json?: true;
  readonly plot?: string;
};

async function run(options: Options): Promise<Results> {
  const plan = {
    ...(options.quick ? QUICK : FULL),
    ...(options.requests ? { requests: options.requests } : {}),
    ...(options.rounds ? { rounds: options.rounds } : {}),
  };
  const sizes = options.quick ? QUICK_LIST_SIZES : LIST_SIZES;
  const hasCases = !options.lists;
  const hasGuarantees = hasCases && !options.quick;
  const hasLists = options.lists || !options.quick;
  const steps =
    (hasCases ? CASE_COUNT * (plan.rounds + 1) : 0) +
    (hasGuarantees ? SUBJECTS.length + 1 : 0) +
    (hasLists ? sizes.length * LIST_COUNT + FIGURE_STEPS : 0);
  return await withProgress(steps, async (onStep) => {
    const script = await buildWorker();
    const speeds = hasCases ? await measureSpeed(script, plan, onStep) : new Map();
    const costs = hasCases
      ? await measureCosts(script, { isQuick: options.quick ?? false }, onStep)
      : new Map();
    const guarantees = hasGuarantees ? await testGuarantees(script, onStep) : new Map();
    const lists = hasLists ? await measureLists(script, sizes, onStep) : [];
    const listFigures = hasLists ? await measureListFigures(script, plan, onStep) : undefined;
    return {
      ...{ plan, cases: caseResults(speeds, costs, guarantees), ...slowClientResult(costs), lists },
      ...(listFigures && { listFigures }),
    };
  });
}

async function withProgress<T>(steps: number, work: (onStep: OnStep) => Promise<T>): Promise<T> {
  const bar = new SingleBar({
    format: "{bar} {value}/{total}  {step}",
    stream: process.stderr,
    clearOnComplete: true,
  });
  bar.start(steps, 0, { step: "building" });
  try {
    return await work((step) => {
      bar.increment(1, { step });
      if (!process.stderr.isTTY) console.error(step);
    });
  } finally {
    bar.stop();
  }
}

async function measure(options: Options): Promise<void> {
  if (options.scaling) {
    const results = SCENARIOS.map(scale);
    return options.json ? printJson({ scaling: results }) : printScaling(results);
  }
  if (options.regions) {
    const results = await withProgress(REGION_STEP_COUNT, async (onStep) =>
      measureRegions(await buildWorker(), onStep),
    );
    return options.json ? printJson({ regions: results }) : printRegions(results);
  }
  const results = await run(options);
  if (options.json) printJson(results);
  else printResults(results);
  // After the results, which took minutes, as the file may not be writable.
  if (options.plot !== undefined)
    writeFileSync(resolve(process.env.INIT_CWD ?? process.cwd(), options.plot), plot(results));
}

function printJson(results: object): void {
  console.log(JSON.stringify(results));
}

const program = new Command("npm run bench --")
  .description(
    "Measures what requests cost, here and with other limiters, as ratios within one run on this machine.",
  )
  .option(
    "--requests <n>",
    `requests for each case and round (default: ${FULL.requests})`,
    wholeNumber(1, MAX_REQUESTS_PER_ROUND),
  )
  .option(
    "--rounds <n>",
    `rounds, of which the median counts (default: ${FULL.rounds})`,
    wholeNumber(1, MAX_ROUNDS),
  )
  .option("--quick", "fewer and shorter rounds; only what requests cost, or with --lists only small lists")
  .option("--lists", "only the list of all orders, at several sizes")
  .addOption(
    new Option(
      "--regions",
      "only the round trips of each kind of request, with and without read replication",
    ).conflicts("lists"),
  )
  .addOption(
    new Option(
      "--scaling",
      "only what the service costs a month, computed from counts (docs/scaling.md)",
    ).conflicts(["lists", "regions"]),
  )
  .addOption(new Option("--plot <file>", "also write a chart, as SVG").conflicts(["regions", "scaling"]))
  .option("--json", "the results as JSON")
  .action(measure);

// The exit removes temporary folders and ends workerd.
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

await runTool(program);
