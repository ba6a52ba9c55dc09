/**
 * `npm run test:faults`: the real Worker under faults: random steps beside a model, and SIGKILL under load.
 * Loopback only, bounded in time.
 *
 * Exit codes: 0 no difference found; 1 a difference, or the service did not start; 2 wrong usage.
 */
import { Command, InvalidArgumentError } from "commander";
import { runTool } from "../../src/tools/run-tool.ts";
import { MAX_SEED, wholeNumber } from "../support/whole-number.ts";
import { ISOLATES, runModel } from "./model-run.ts";
import { failuresOf, printResults, type Results } from "./report.ts";
import { buildWorker, startFaultService } from "./service.ts";
import { runSigkill } from "./sigkill-run.ts";

const MAX_STEPS = 1_000_000;
const PARTS = ["model", "sigkill"] as const;
type Part = (typeof PARTS)[number];

const DEFAULTS = { steps: 10_000, kills: 50, minutes: 10 };

/** When a part ends at the latest, as a share of the time. The last one leaves some for its checks. */
const ENDS_AT: Readonly<Record<Part, number>> = { model: 0.55, sigkill: 0.95 };

type Options = {
  readonly seed: number;
  readonly path?: string;
  readonly steps: number;
  readonly kills: number;
  readonly minutes: number;
  readonly only?: Part;
};

async function run(options: Options): Promise<Results> {
  const startedAtMs = Date.now();
  const progress = (text: string) => console.error(`${seconds(startedAtMs)} s  ${text}`);
  const isWanted = (part: Part) => options.only === undefined || options.only === part;
  const untilOf = (part: Part) =>
    startedAtMs + options.minutes * 60_000 * (options.only === undefined ? ENDS_AT[part] : ENDS_AT.sigkill);
  progress(`building; seed ${options.seed}`);
  const script = await buildWorker();
  const model = isWanted("model") ? await modelPart(script, options, untilOf("model"), progress) : undefined;
  const sigkill = isWanted("sigkill")
    ? await runSigkill({ kills: options.kills, untilMs: untilOf("sigkill"), progress })
    : undefined;
  return { seconds: seconds(startedAtMs), model, sigkill };
}

async function modelPart(
  script: string,
  options: Options,
  untilMs: number,
  progress: (text: string) => void,
) {
  const service = await startFaultService(script, { isolates: ISOLATES });
  let shownAtMs = 0;
  try {
    return await runModel(service, {
      ...options,
      untilMs,
      onRun(steps) {
        if (Date.now() - shownAtMs < 5_000) return;
        shownAtMs = Date.now();
        progress(`model run: ${steps} of ${options.steps} steps`);
      },
    });
  } finally {
    await service.close();
  }
}

function seconds(sinceMs: number): number {
  return Math.round((Date.now() - sinceMs) / 1000);
}

/** Another one each day, printed with every result. */
const seedOfToday = () => Math.floor(Date.now() / 86_400_000);

const program = new Command("npm run test:faults --")
  .description(
    "Tests the real Worker under faults, on this machine only: a model run, and SIGKILL under load.",
  )
  .option(
    "--seed <n>",
    "the seed of everything that is random; the default is the day's",
    wholeNumber(0, MAX_SEED),
    seedOfToday(),
  )
  .option("--path <path>", "go on where a failed model run with this seed was found")
  .option("--steps <n>", "steps of the model run", wholeNumber(0, MAX_STEPS), DEFAULTS.steps)
  .option("--kills <n>", "how often the process is killed under load", wholeNumber(0, 10_000), DEFAULTS.kills)
  .option(
    "--minutes <n>",
    "the longest time in all; what is left out is not counted",
    wholeNumber(1, 1_440),
    DEFAULTS.minutes,
  )
  .option("--only <part>", `one of ${PARTS.join(", ")}`, (text) => {
    const part = PARTS.find((each) => each === text);
    if (!part) throw new InvalidArgumentError(`It must be one of ${PARTS.join(", ")}.`);
    return part;
  })
  .action(async (options: Options) => {
    const results = await run(options);
    printResults(results);
    process.exitCode = failuresOf(results).length === 0 ? 0 : 1;
  });

// The exit ends workerd.
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

await runTool(program);
