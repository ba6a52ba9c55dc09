/**
 * `npm run test:fuzz`: bad input against the real Worker in workerd, over sockets and fetch. The same seed
 * sends the same requests, with other credentials.
 *
 * Exit codes: 0 no failure; 1 a failure, or too slow to send all requests; 2 wrong usage.
 */
import { Command } from "commander";
import { runTool } from "../../src/tools/run-tool.ts";
import { MAX_SEED, wholeNumber } from "../support/whole-number.ts";
import { fuzz } from "./fuzz.ts";

const MAX_REQUESTS = 10_000_000;
const FULL_REQUESTS = 100_000;
const MAX_MINUTES = 10;
const PROGRESS_EVERY_MS = 10_000;

type CommandOptions = { readonly requests: number; readonly seed?: number };

async function run({ requests, seed = Date.now() % MAX_SEED }: CommandOptions): Promise<void> {
  console.error(`${requests} requests, seed ${seed}`);
  const startedAtMs = Date.now();
  let shownAtMs = startedAtMs;
  const { sent, counts, memoryGrowth, failure } = await fuzz({
    requests,
    seed,
    maxMs: MAX_MINUTES * 60_000,
    onProgress(sentSoFar) {
      if (Date.now() - shownAtMs < PROGRESS_EVERY_MS) return;
      shownAtMs = Date.now();
      console.error(`${sentSoFar} of ${requests} requests`);
    },
  });
  for (const [kind, statuses] of Object.entries(counts)) {
    const shown = Object.entries(statuses).map(([status, count]) => `${status}: ${count}`);
    console.log(`${kind.padEnd(30)} ${shown.join(", ")}`);
  }
  const seconds = Math.round((Date.now() - startedAtMs) / 1_000);
  console.log(`${sent} requests in ${seconds} s; workerd grew by ${Math.round(memoryGrowth)} MB at most.`);
  if (failure !== undefined)
    console.error(`Failed: ${failure}\nAgain: npm run test:fuzz -- --seed ${seed} --requests ${requests}`);
  else if (sent < requests)
    console.error(`Only ${sent} of ${requests} requests were sent within ${MAX_MINUTES} minutes.`);
  process.exitCode = failure !== undefined || sent < requests ? 1 : 0;
}

const command = new Command("npm run test:fuzz --")
  .description(
    `Bad input against the real Worker in workerd. It ends after ${MAX_MINUTES} minutes at the latest.`,
  )
  .option("--requests <count>", "how many requests", wholeNumber(1, MAX_REQUESTS), FULL_REQUESTS)
  .option("--seed <number>", "repeats a run (default: of the time)", wholeNumber(0, MAX_SEED))
  .action(run);

await runTool(command);
