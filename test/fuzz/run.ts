/**
 * `npm run test:fuzz`: bad input against the real Worker in workerd, over sockets and fetch. The same seed sends the same
 * requests.
 *
 * Exit codes: 0 no failure; 1 a failure, or too slow to send all requests; 2 wrong usage.
 */
import { SingleBar } from "cli-progress";
import Table from "cli-table3";
import { Command } from "commander";
import { runTool } from "../../src/tools/run-tool.ts";
import { MAX_SEED, wholeNumber } from "../support/whole-number.ts";
import { fuzz, type Result } from "./fuzz.ts";

const MAX_REQUESTS = 10_000_000;
const FULL_REQUESTS = 100_000;
const MAX_MINUTES = 10;

type CommandOptions = { readonly requests: number; readonly seed?: number; readonly json?: true };

async function run({ requests, seed = Date.now() % MAX_SEED, json }: CommandOptions): Promise<void> {
  const bar = new SingleBar({
    format: "{bar} {value}/{total} requests",
    stream: process.stderr,
    clearOnComplete: true,
  });
  if (process.stderr.isTTY) bar.start(requests, 0);
  else console.error(`${requests} requests, seed ${seed}`);
  const result = await fuzz({
    requests,
    seed,
    maxMs: MAX_MINUTES * 60_000,
    onProgress: (sent) => bar.update(sent),
  });
  bar.stop();
  console.log(json ? JSON.stringify(toJson(result), null, 2) : toText(result));
  if (result.failure) {
    console.error(`Failed: ${result.failure.problem}\n${result.failure.reproduction}`);
    console.error(`Again: npm run test:fuzz -- --seed ${seed} --requests ${requests}`);
  } else if (result.sent < requests) {
    console.error(`Only ${result.sent} of ${requests} requests were sent within ${MAX_MINUTES} minutes.`);
  }
  process.exitCode = result.failure || result.sent < requests ? 1 : 0;
}

function toText({ kinds, seed, sent, ms, memoryGrowth }: Result): string {
  const table = new Table({
    head: ["kind", "sent", "answers"],
    style: { head: [], border: [] },
    wordWrap: true,
    colWidths: [32, 8, 110],
  });
  for (const [kind, count] of kinds) table.push([kind, count.sent, statusesOf(count.statuses)]);
  table.push(["all", sent, statusesOf(totalOf(kinds))]);
  return `${table.toString()}\nSeed ${seed}, ${(ms / 1000).toFixed(0)} s, workerd grew by ${memoryGrowth.toFixed(0)} MB at most.`;
}

function statusesOf(statuses: ReadonlyMap<string, number>): string {
  const sorted = [...statuses].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([status, count]) => `${status}: ${count}`).join(", ");
}

function totalOf(kinds: Result["kinds"]): Map<string, number> {
  const total = new Map<string, number>();
  for (const [, { statuses }] of kinds) {
    for (const [status, count] of statuses) total.set(status, (total.get(status) ?? 0) + count);
  }
  return total;
}

function toJson({ kinds, ...result }: Result): object {
  const counts = [...kinds].map(([kind, { sent, statuses }]) => [
    kind,
    { sent, statuses: Object.fromEntries(statuses) },
  ]);
  return { ...result, kinds: Object.fromEntries(counts) };
}

const command = new Command("npm run test:fuzz --")
  .description(
    `Bad input against the real Worker in workerd. It ends after ${MAX_MINUTES} minutes at the latest.`,
  )
  .option("--requests <count>", "how many requests", wholeNumber(1, MAX_REQUESTS), FULL_REQUESTS)
  .option("--seed <number>", "repeats a run (default: of the time)", wholeNumber(0, MAX_SEED))
  .option("--json", "the counts as JSON")
  .action(run);

await runTool(command);
