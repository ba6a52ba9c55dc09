/**
 * `npm run test:faults`: the real Worker under faults: random steps beside a model, SIGKILL under load, and bad
 * input over sockets. Loopback only, bounded in time. The same seed does the same, with other credentials.
 *
 * Exit codes: 0 no difference found; 1 a difference, or the service did not start; 2 wrong usage.
 */
import { Command, InvalidArgumentError } from "commander";
import { runTool } from "../../src/tools/run-tool.ts";
import { fuzz } from "../fuzz/fuzz.ts";
import { MAX_SEED, wholeNumber } from "../support/whole-number.ts";
import { ISOLATES, runModel } from "./model-run.ts";
import type { Found, Plan } from "./part.ts";
import { buildWorker, startFaultService } from "./service.ts";
import { runSigkill } from "./sigkill-run.ts";

const STEPS = 10_000;
const KILLS = 50;
const REQUESTS = 100_000;

const PARTS: Readonly<Record<string, (plan: Plan) => Promise<Found>>> = {
  async model(plan) {
    const service = await startFaultService(await buildWorker(), { isolates: ISOLATES });
    try {
      return await runModel(service, { ...plan, steps: STEPS });
    } finally {
      await service.close();
    }
  },
  sigkill: (plan) => runSigkill({ ...plan, kills: KILLS }),
  fuzz: (plan) => fuzz({ ...plan, requests: REQUESTS }),
};

type Options = {
  readonly seed: number;
  readonly path?: string;
  readonly minutes: number;
  readonly only?: string;
};

async function run({ seed, minutes, only, ...options }: Options): Promise<void> {
  const startMs = Date.now();
  const parts = Object.entries(PARTS).filter(([name]) => only === undefined || only === name);
  const failures: string[] = [];
  for (const [i, [name, part]] of parts.entries()) {
    const untilMs = startMs + ((i + 1) / parts.length) * minutes * 60_000;
    let shownMs = 0;
    const progress = (text: string) => {
      if (Date.now() - shownMs < 5_000) return;
      shownMs = Date.now();
      console.error(`${secondsSince(startMs)} s  ${name}: ${text}`);
    };
    progress(`seed ${seed}`);
    const found = await part({ ...options, seed, untilMs, progress });
    console.log(`\n${found.title}`);
    for (const [label, value] of found.rows) console.log(`  ${label.padEnd(55)} ${value}`);
    failures.push(...found.failures);
  }
  for (const failure of failures) console.log(`\n${failure}`);
  const result =
    failures.length === 0 ? "No difference found" : `${failures.length} failed, with seed ${seed}`;
  console.log(`\n${result} in ${secondsSince(startMs)} s.`);
  process.exitCode = failures.length === 0 ? 0 : 1;
}

const secondsSince = (startMs: number) => Math.round((Date.now() - startMs) / 1000);

const program = new Command("npm run test:faults --")
  .description("Tests the real Worker under faults, on this machine only.")
  .option(
    "--seed <n>",
    "the seed of everything that is random; the default is the day's",
    wholeNumber(0, MAX_SEED),
    Math.floor(Date.now() / 86_400_000),
  )
  .option("--path <path>", "go on where a failed model run with this seed was found")
  .option("--minutes <n>", "the longest time in all", wholeNumber(1, 1_440), 15)
  .option("--only <part>", `one of ${Object.keys(PARTS).join(", ")}`, (text) => {
    if (text in PARTS) return text;
    throw new InvalidArgumentError(`It must be one of ${Object.keys(PARTS).join(", ")}.`);
  })
  .action(run);

// The exit ends workerd.
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

await runTool(program);
