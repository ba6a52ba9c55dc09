/** The results of a run: figures, and the table that shows them. */
import Table from "cli-table3";
import { BARE, HOT_PATH } from "./cases.ts";
import { HAS_PROC } from "./cpu-time.ts";
import { CONNECTIONS } from "./load.ts";
import { COUNTED_REQUESTS, type Measured, type Plan } from "./measure.ts";
import { ratiosOf, type Spread, spreadOf } from "./statistics.ts";
import type { Costs } from "./worker/costs.ts";

export type Result = {
  readonly id: string;
  readonly name: string;
  /** CPU time of workerd. Undefined on a system without /proc. */
  readonly cpu?: { readonly msPerRequest: Spread; readonly ofBare: Spread; readonly ofHotPath: Spread };
  readonly requestsPerSecond: Spread;
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
  readonly perRequest: Costs;
};

export function resultsOf(speed: ReadonlyMap<string, Measured>, costs: ReadonlyMap<string, Costs>): Result[] {
  const cpuOf = (id: string) => speed.get(id)?.cpuMs ?? [];
  return [...speed].flatMap(([id, { name, cpuMs, requestsPerSecond, p50Ms, p99Ms }]) => {
    const perRequest = costs.get(id);
    if (perRequest === undefined) return [];
    const cpu = cpuMs.length > 0 && {
      msPerRequest: spreadOf(cpuMs),
      ofBare: ratiosOf(cpuMs, cpuOf(BARE)),
      ofHotPath: ratiosOf(cpuMs, cpuOf(HOT_PATH)),
    };
    return [
      {
        id,
        name,
        ...(cpu ? { cpu } : {}),
        requestsPerSecond: spreadOf(requestsPerSecond),
        p50Ms: spreadOf(p50Ms),
        p99Ms: spreadOf(p99Ms),
        perRequest,
      },
    ];
  });
}

export function printResults(results: readonly Result[], plan: Plan): void {
  const columns = [
    ...(HAS_PROC ? ["CPU ms", "CPU, of bare", "CPU, of hot path"] : []),
    ...["requests/s", "object calls", "D1 queries", "object rows written"],
  ];
  const table = new Table({
    head: ["request", ...columns],
    colAligns: ["left", ...columns.map(() => "right" as const)],
    style: { head: [], border: [] },
  });
  for (const { name, cpu, requestsPerSecond, perRequest } of results) {
    table.push([
      name,
      ...(cpu ? [cpu.msPerRequest.median.toFixed(3), withSpread(cpu.ofBare), withSpread(cpu.ofHotPath)] : []),
      requestsPerSecond.median.toFixed(0),
      ...[perRequest.objectCalls, perRequest.d1Queries, perRequest.objectRowsWritten].map((count) =>
        count.toFixed(3),
      ),
    ]);
  }
  console.log(table.toString());
  console.log(
    `Medians (min–max) of ${plan.rounds} rounds of ${plan.requests} requests over ${CONNECTIONS} connections, sent by another process.`,
  );
  console.log(
    HAS_PROC
      ? "CPU: user and system time of workerd, with its local D1 and Durable Objects."
      : "CPU time is left out, because this system has no /proc.",
  );
  console.log(`Costs per request: a burst of ${COUNTED_REQUESTS} on one key; alarms included.`);
}

function withSpread({ median, min, max }: Spread): string {
  return `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`;
}
