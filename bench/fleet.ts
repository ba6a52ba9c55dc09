/**
 * What reads of the revision cost one D1 that 200 busy isolates share, in a simulation: virtual time, the real
 * `SingleFlight`, and a D1 that answers one query after the other.
 */
import { SingleFlight } from "../src/worker/platform/single-flight.ts";
import { spreadOf } from "./statistics.ts";
import { type Column, tableOf } from "./table.ts";

const ISOLATES = 200;
const DISTANCE_MS = 80;
const PAUSE_MS = 100;
const QUERY_MS = 1;
const SECONDS = 3;

type Rule = { readonly name: string; readonly maxInFlight: number };
const RULES: readonly Rule[] = [
  { name: "one at a time", maxInFlight: 1 },
  { name: "up to four, one while slow", maxInFlight: 4 },
];
/** Clients of an isolate, and how many of the isolates are busy. */
const LOADS = [
  { clients: 20, isolates: 10 },
  { clients: 20, isolates: 25 },
  { clients: 20, isolates: 50 },
  { clients: 20, isolates: ISOLATES },
  { clients: 2, isolates: ISOLATES },
];

export type FleetResult = {
  readonly rule: string;
  readonly isolates: number;
  readonly clients: number;
  readonly queriesPerSecond: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
};

/** Events in the order of their time. Timers and `Date.now` are virtual while `run` goes on. */
async function inVirtualTime(untilMs: number, run: () => void): Promise<void> {
  const [realTimeout, realNow] = [globalThis.setTimeout, Date.now];
  const events: { atMs: number; order: number; call: () => void }[] = [];
  let [nowMs, order] = [0, 0];
  const at = (atMs: number, call: () => void) => {
    let [low, high] = [0, events.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((events[middle]?.atMs ?? 0) > atMs) low = middle + 1;
      else high = middle;
    }
    events.splice(low, 0, { atMs, order: order++, call });
  };
  const settled = () => new Promise<void>((done) => setImmediate(done));
  globalThis.setTimeout = ((call: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    at(nowMs + Math.max(1, ms), () => call(...args));
    return 0;
  }) as unknown as typeof setTimeout; // the code under test calls it in this form
  Date.now = () => Math.floor(nowMs);
  try {
    run();
    await settled();
    for (let next = events.pop(); next !== undefined && next.atMs < untilMs; next = events.pop()) {
      nowMs = next.atMs;
      next.call();
      // Events of one moment share a look at the promises.
      if (events.at(-1)?.atMs !== nowMs) await settled();
    }
  } finally {
    globalThis.setTimeout = realTimeout;
    Date.now = realNow;
  }
}

const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

async function simulate(
  { name, maxInFlight }: Rule,
  { isolates, clients }: (typeof LOADS)[number],
): Promise<FleetResult> {
  let [freeAtMs, queries] = [0, 0];
  const latenciesMs: number[] = [];
  const query = async () => {
    queries++;
    await sleep(DISTANCE_MS / 2);
    freeAtMs = Math.max(freeAtMs, Date.now()) + QUERY_MS;
    await sleep(freeAtMs - Date.now() + DISTANCE_MS / 2);
  };
  await inVirtualTime(SECONDS * 1_000, () => {
    for (let i = 0; i < isolates; i++) {
      const reads = new SingleFlight<void>(10_000, maxInFlight);
      const client = async () => {
        for (;;) {
          await sleep(Math.random() * PAUSE_MS);
          const beganMs = Date.now();
          await reads.runAfterCall(query, () => undefined);
          latenciesMs.push(Date.now() - beganMs);
        }
      };
      for (let j = 0; j < clients; j++) void client();
    }
  });
  const sorted = latenciesMs.toSorted((a, b) => a - b);
  return {
    rule: name,
    isolates,
    clients,
    queriesPerSecond: queries / SECONDS,
    requestsPerSecond: sorted.length / SECONDS,
    p50Ms: spreadOf(sorted).median,
    p95Ms: sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN,
  };
}

export async function simulateFleet(): Promise<FleetResult[]> {
  const results: FleetResult[] = [];
  for (const load of LOADS) for (const rule of RULES) results.push(await simulate(rule, load));
  return results;
}

export function printFleet(results: readonly FleetResult[]): void {
  const columns: Column<FleetResult>[] = [
    { head: "reads of the revision", cell: ({ rule }) => rule },
    { head: "busy isolates", cell: ({ isolates }) => String(isolates) },
    { head: "clients each", cell: ({ clients }) => String(clients) },
    {
      head: "D1 queries/s",
      cell: ({ queriesPerSecond }) => Math.round(queriesPerSecond).toLocaleString("en"),
    },
    {
      head: "requests/s",
      cell: ({ requestsPerSecond }) => Math.round(requestsPerSecond).toLocaleString("en"),
    },
    { head: "wait p50, p95 ms", cell: ({ p50Ms, p95Ms }) => `${Math.round(p50Ms)}, ${Math.round(p95Ms)}` },
  ];
  console.log(tableOf(columns, results));
}
