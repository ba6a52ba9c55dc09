/**
 * `npm run bench`: what requests cost, here and with other limiters, as ratios within one run. Other figures
 * depend on the machine. A full run also tests what each limiter guarantees, and lists a million orders.
 *
 * Exit codes: 0 measured; 1 the service did not start or gave an unexpected answer; 2 wrong usage.
 */
import { resolve } from "node:path";
import { Command, Option } from "commander";
import { runTool } from "../src/tools/run-tool.ts";
import { measureFar, printFar } from "./far.ts";
import { printFleet, simulateFleet } from "./fleet.ts";
import { testGuarantees } from "./guarantees.ts";
import { LIST_SIZES, measureLists, QUICK_LIST_SIZES } from "./lists.ts";
import { measureCosts, measureSpeed, type Plan } from "./measure.ts";
import { measurePages, printPages } from "./pages.ts";
import { printResults } from "./report.ts";
import { caseResults, type Results } from "./results.ts";
import { SCALES, scalingTables } from "./scaling.ts";
import { buildLimiters, buildService, YOURS } from "./service.ts";
import { measureStart, printStart } from "./start.ts";
import { measureTogether, printTogether } from "./together.ts";

const FULL: Plan = { requests: 300, rounds: 70 };
const QUICK: Plan = { requests: 200, rounds: 7 };

type Options = {
  readonly limiter?: string;
  readonly quick?: true;
  readonly lists?: true;
  readonly pages?: true;
  readonly far?: string;
  readonly together?: string;
  readonly scaling?: true;
  readonly start?: true | readonly string[];
  readonly json?: true;
};

async function run(options: Options): Promise<Results> {
  const { quick: isQuick = false, lists: hasOnlyLists = false } = options;
  const plan = isQuick ? QUICK : FULL;
  const file = options.limiter && fromCaller(options.limiter);
  const service = await buildService();
  const others = hasOnlyLists ? [] : await buildLimiters(file);
  const workers = { service, others };
  const sizes = isQuick ? QUICK_LIST_SIZES : LIST_SIZES;
  // Quick or not, the file of `--limiter` is tested for what it guarantees.
  const tested = { service, others: isQuick ? others.filter(({ id }) => id === YOURS) : others };
  const hasGuarantees = tested.others.length > 0;
  const hasLists = hasOnlyLists || !isQuick;
  const lists = hasLists ? await measureLists(service, sizes, onStep) : [];
  if (hasOnlyLists) return { plan, cases: [], lists };
  const speeds = await measureSpeed(workers, plan, onStep);
  const costs = await measureCosts(workers, onStep);
  const guarantees = hasGuarantees ? await testGuarantees(tested, onStep) : new Map();
  return { plan, cases: caseResults(speeds, costs, guarantees), lists };
}

/** npm changes to the project's folder. */
function fromCaller(path: string): string {
  return resolve(process.env.INIT_CWD ?? process.cwd(), path);
}

function onStep(name: string): void {
  console.error(name);
}

async function measure(options: Options): Promise<void> {
  if (options.scaling) return options.json ? printJson({ scaling: SCALES }) : console.log(scalingTables());
  if (options.pages) {
    const results = await measurePages(await buildService(), onStep);
    return options.json ? printJson({ pages: results }) : printPages(results);
  }
  if (options.far !== undefined) {
    const results = await measureFar(fromCaller(options.far), onStep);
    onStep("a fleet of isolates, simulated");
    const fleet = await simulateFleet();
    if (options.json) return printJson({ far: results, fleet });
    printFar(results);
    console.log();
    return printFleet(fleet);
  }
  if (options.together !== undefined) {
    const results = await measureTogether(fromCaller(options.together), onStep);
    return options.json ? printJson({ together: results }) : printTogether(results);
  }
  if (options.start) {
    const folders = options.start === true ? [] : options.start;
    const results = await measureStart(folders.map(fromCaller), onStep);
    return options.json ? printJson({ start: results }) : printStart(results);
  }
  const results = await run(options);
  if (options.json) printJson(results);
  else printResults(results);
}

function printJson(results: object): void {
  console.log(JSON.stringify(results));
}

const program = new Command("npm run bench --")
  .description(
    "Measures what requests cost, here and with other limiters, as ratios within one run on this machine.",
  )
  .addOption(
    new Option("--limiter <file>", "also measure the limiter of a file (docs/performance.md)").conflicts(
      "lists",
    ),
  )
  .option("--quick", "fewer and shorter rounds; only what requests cost, or with --lists only small lists")
  .option("--lists", "only the list of all orders, at several sizes")
  .addOption(
    new Option(
      "--scaling",
      "only what the service costs a month, and which limit comes first, computed from counts",
    ).conflicts("lists"),
  )
  .addOption(
    new Option("--pages", "only the operator's pages and calls, with 20,000 keys").conflicts([
      "lists",
      "scaling",
    ]),
  )
  .addOption(
    new Option(
      "--far <checkout>",
      "only lists with D1 and the objects far away, beside the service of another checkout",
    ).conflicts(["lists", "scaling", "pages"]),
  )
  .addOption(
    new Option(
      "--together <checkout>",
      "only requests of one key at once, beside the service of another checkout",
    ).conflicts(["lists", "scaling", "pages", "far"]),
  )
  .addOption(
    new Option(
      "--start [folders...]",
      "only the start of an isolate, also of bundles of other commits (docs/performance.md)",
    ).conflicts(["lists", "scaling", "pages", "far", "together"]),
  )
  .option("--json", "the results as JSON")
  .action(measure);

// The exit removes temporary folders and ends workerd.
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

await runTool(program);
