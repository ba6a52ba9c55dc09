/**
 * `npm run bench`: what each kind of request costs, as ratios within one run. Absolute figures depend on the machine.
 *
 * Exit codes: 0 measured; 1 the service did not start or gave an unexpected answer; 2 wrong usage.
 */
import { SingleBar } from "cli-progress";
import Table from "cli-table3";
import { Command, CommanderError, InvalidArgumentError } from "commander";
import { CONNECTIONS, type RequestSpec, send, sendMany } from "./load.ts";
import { type BenchService, buildWorker, LISTED_ORDERS, startBench } from "./service.ts";
import type { Costs } from "./worker.ts";

const MAX_REQUESTS_PER_ROUND = 20_000;
const MAX_ROUNDS = 10;
const WARM_UP_REQUESTS = 200;
/** A Business key's limit per minute. */
const COUNTED_REQUESTS = 1_000;

const LIST = "/v1/store/orders";

type Case = { readonly name: string; readonly spec: RequestSpec };
type Result = {
  readonly name: string;
  readonly requestsPerSecond: number;
  /** Of the bare route's rate in the same round. */
  readonly ratio: number;
  readonly perRequest: Costs;
};

/** Every case has a key of its own, so that no case uses up the quota of another. */
async function casesFor(service: BenchService, perMinute: number, perDay: number): Promise<Case[]> {
  const key = async (minute = perMinute, day = perDay) => ({
    Authorization: `Bearer ${await service.createKey(minute, day)}`,
  });
  const listing = await key();
  const { etag } = await send(service.url, { path: LIST, headers: await key() });
  const banned = await key(1, 1_000_000);
  await ban(service.url, banned);
  return [
    { name: "bare Hono route", spec: { path: "/bare", headers: {}, status: 200 } },
    { name: "401, no key", spec: { path: LIST, headers: {}, status: 401 } },
    {
      name: "hot path: authenticated, counted",
      spec: { path: "/v1/none", headers: await key(), status: 404 },
    },
    { name: "429, banned", spec: { path: LIST, headers: banned, status: 429 } },
    {
      name: "list, 304",
      spec: { path: LIST, headers: { ...(await key()), "If-None-Match": etag }, status: 304 },
    },
    {
      name: `list, ${LISTED_ORDERS} orders, cached body`,
      spec: { path: LIST, headers: listing, status: 200 },
    },
  ];
}

/** Polls until the key is banned, so that every later request is answered 429 for minutes. */
async function ban(url: URL, headers: Record<string, string>): Promise<void> {
  for (let polls = 0; polls < 200; polls++) {
    if ((await send(url, { path: LIST, headers })).body.includes("key_banned")) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("the limiter did not ban within 200 polls");
}

async function measureSpeed(
  script: string,
  options: Options,
  onStep: (name: string) => void,
): Promise<Map<string, { rates: number[]; ratios: number[] }>> {
  const service = await startBench(script, { isCounting: false });
  try {
    const cases = await casesFor(service, 1_000_000, 100_000_000);
    const measured = new Map(
      cases.map(({ name }) => [name, { rates: [] as number[], ratios: [] as number[] }]),
    );
    for (const { spec } of cases) await sendMany(service.url, spec, WARM_UP_REQUESTS);
    for (let round = 0; round < options.rounds; round++) {
      let bareRate = 0;
      for (const { name, spec } of cases) {
        onStep(name);
        const rate = await sendMany(service.url, spec, options.requests);
        if (spec.path === "/bare") bareRate = rate;
        measured.get(name)?.rates.push(rate);
        measured.get(name)?.ratios.push(rate / bareRate);
      }
    }
    return measured;
  } finally {
    await service.close();
  }
}

async function measureCosts(script: string, onStep: (name: string) => void): Promise<Map<string, Costs>> {
  const service = await startBench(script, { isCounting: true });
  try {
    const measured = new Map<string, Costs>();
    for (const { name, spec } of await casesFor(service, COUNTED_REQUESTS, 100_000)) {
      onStep(name);
      await costsSoFar(service.url);
      await sendMany(service.url, spec, COUNTED_REQUESTS);
      const costs = await costsSoFar(service.url);
      measured.set(name, {
        d1Queries: costs.d1Queries / COUNTED_REQUESTS,
        objectCalls: costs.objectCalls / COUNTED_REQUESTS,
        rowsWritten: costs.rowsWritten / COUNTED_REQUESTS,
      });
    }
    return measured;
  } finally {
    await service.close();
  }
}

async function costsSoFar(url: URL): Promise<Costs> {
  const { body } = await send(url, { path: "/costs", headers: {} });
  return JSON.parse(body) as Costs; // made by the bench Worker from a value of this type
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

type Options = { readonly requests: number; readonly rounds: number; readonly json?: true };

async function run(options: Options): Promise<Result[]> {
  const steps = 6 * (options.rounds + 1);
  const bar = new SingleBar({
    format: "{bar} {value}/{total}  {step}",
    stream: process.stderr,
    clearOnComplete: true,
  });
  bar.start(steps, 0, { step: "building" });
  try {
    const script = await buildWorker();
    const onStep = (step: string) => {
      bar.increment(1, { step });
      if (!process.stderr.isTTY) console.error(step);
    };
    const speed = await measureSpeed(script, options, onStep);
    const costs = await measureCosts(script, onStep);
    return [...speed].map(([name, { rates, ratios }]) => ({
      name,
      requestsPerSecond: Math.round(median(rates)),
      ratio: Number(median(ratios).toFixed(2)),
      perRequest: costs.get(name) ?? { d1Queries: 0, objectCalls: 0, rowsWritten: 0 },
    }));
  } finally {
    bar.stop();
  }
}

function print(results: readonly Result[], options: Options): void {
  const table = new Table({
    head: ["request", "of bare", "requests/s", "object calls", "D1 queries", "rows written"],
    colAligns: ["left", "right", "right", "right", "right", "right"],
    style: { head: [], border: [] },
  });
  for (const { name, ratio, requestsPerSecond, perRequest } of results) {
    const { objectCalls, d1Queries, rowsWritten } = perRequest;
    table.push([
      name,
      ratio.toFixed(2),
      requestsPerSecond,
      ...[objectCalls, d1Queries, rowsWritten].map((value) => value.toFixed(3)),
    ]);
  }
  console.log(table.toString());
  console.log(
    `Rates: median of ${options.rounds} rounds of ${options.requests} requests over ${CONNECTIONS} connections. ` +
      `Costs per request: a burst of ${COUNTED_REQUESTS} on one Business key; rows are those of limiters, alarms included.`,
  );
}

const atMost = (max: number) => (text: string) => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > max)
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  return value;
};

const program = new Command("npm run bench --")
  .description("Measures what each kind of request costs, on this machine only, as ratios within one run.")
  .option("--requests <n>", "requests for each case and round", atMost(MAX_REQUESTS_PER_ROUND), 2_000)
  .option("--rounds <n>", "rounds, of which the median counts", atMost(MAX_ROUNDS), 3)
  .option("--json", "the results as JSON")
  .exitOverride();

try {
  const options = program.parse().opts<Options>();
  const results = await run(options);
  if (options.json) console.log(JSON.stringify(results));
  else print(results, options);
} catch (thrown) {
  if (thrown instanceof CommanderError) process.exit(thrown.exitCode === 0 ? 0 : 2);
  console.error(thrown instanceof Error ? thrown.message : String(thrown));
  process.exit(1);
}
