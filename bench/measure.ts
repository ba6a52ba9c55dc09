/** Measures the CPU time and the speed of each case in short bursts, and counts its costs in another run. */

import { isAlwaysLogged } from "../src/worker/platform/log.ts";
import { cpuMsOf } from "../test/support/workerd-process.ts";
import { type Case, casesOfOthers, prepareService } from "./cases.ts";
import { send, sendExpecting } from "./load.ts";
import { SAMPLED_LINES } from "./prices.ts";
import { type MeasuredWorker, SERVICE, startBench } from "./service.ts";
import { shuffled } from "./statistics.ts";
import type { Costs } from "./worker/costs.ts";

/** A limiter writes its exact count when it was idle for a second. That row belongs to the burst before. */
const IDLE_FLUSH_MS = 1_200;
/** A Business key's limit per minute, and so the longest burst of one key. */
export const BURST_REQUESTS = 1_000;

export type Plan = { readonly requests: number; readonly rounds: number };

/** One value for each round. */
export type Speed = {
  readonly name: string;
  /** Empty on a system without /proc. */
  readonly cpuMs: number[];
  readonly p50Ms: number[];
};

export type OnStep = (name: string) => void;

/** The measured Workers: the service, and what the service is compared with. */
export type Workers = { readonly service: MeasuredWorker; readonly others: readonly MeasuredWorker[] };

/** Limits that no run reaches. */
const UNREACHED = { perMinute: 1_000_000, perDay: 100_000_000 };
/**
 * By id of the case. Each round sends a burst to each case, in random order: in long runs of one case, the
 * collector and other processes change a figure by a tenth.
 */
export async function measureSpeed(
  { service: measured, others }: Workers,
  { requests, rounds }: Plan,
  onStep: OnStep,
): Promise<Map<string, Speed>> {
  const service = await startBench({ workers: [measured, ...others], limit: UNREACHED.perDay });
  try {
    const { workerd, url } = service;
    const cases = [...casesOfOthers(others), ...(await prepareService(service, UNREACHED))];
    onStep("warming up");
    for (const { worker, spec, status } of cases)
      await sendExpecting(url(worker), spec, 2 * requests, status);
    const speeds = new Map(
      cases.map(({ id, name }): [string, Speed] => [id, { name, cpuMs: [], p50Ms: [] }]),
    );
    for (let round = 1; round <= rounds; round++) {
      onStep(`round ${round} of ${rounds}`);
      for (const { id, worker, spec, status } of shuffled(cases)) {
        const beforeMs = workerd ? cpuMsOf(workerd) : 0;
        const { p50Ms } = await sendExpecting(url(worker), spec, requests, status);
        const speed = speeds.get(id);
        if (workerd) speed?.cpuMs.push((cpuMsOf(workerd) - beforeMs) / requests);
        speed?.p50Ms.push(p50Ms);
      }
    }
    return speeds;
  } finally {
    await service.close();
  }
}

/** What one request costs on average. */
export type RequestCosts = {
  readonly costs: Costs;
  /** How long an object is active for the request: its share of the burst. Zero without an object. */
  readonly objectActiveMs: number;
  /** Only the service writes a line for each request. With `LOG_REQUESTS = "1/100"`, fewer are `sampled`. */
  readonly logLines: { readonly all: number; readonly sampled: number };
};

/** By id of the case. */
export async function measureCosts(
  { service: counted, others }: Workers,
  onStep: OnStep,
): Promise<Map<string, RequestCosts>> {
  const service = await startBench({
    workers: [counted, ...others],
    limit: BURST_REQUESTS,
    isCounting: true,
  });
  const measured = new Map<string, RequestCosts>();
  try {
    const ours = await prepareService(service, { perMinute: BURST_REQUESTS, perDay: 100_000 });
    await idleFlush();
    for (const { id, name, worker, spec, status } of [...casesOfOthers(others), ...ours]) {
      onStep(name);
      measured.set(id, {
        ...(await measureBurst(service.url(worker), spec, status)),
        logLines: worker === SERVICE ? { all: 1, sampled: sampledLines(status) } : { all: 0, sampled: 0 },
      });
    }
    return measured;
  } finally {
    await service.close();
  }
}

function sampledLines(status: number): number {
  return isAlwaysLogged({ method: "GET", status }) ? 1 : SAMPLED_LINES;
}

async function measureBurst(
  url: URL,
  spec: Case["spec"],
  status: number,
): Promise<Omit<RequestCosts, "logLines">> {
  await takeCosts(url);
  const load = await sendExpecting(url, spec, BURST_REQUESTS, status);
  const during = await takeCosts(url);
  const hasObject = during.objectCalls > 0;
  if (hasObject) await idleFlush();
  const after = await takeCosts(url);
  return {
    costs: perRequest(during, after),
    objectActiveMs: hasObject ? load.durationMs / BURST_REQUESTS : 0,
  };
}

function perRequest(...sums: readonly Costs[]): Costs {
  const share = (key: keyof Costs) => sums.reduce((total, each) => total + each[key], 0) / BURST_REQUESTS;
  return {
    objectCalls: share("objectCalls"),
    objectRowsRead: share("objectRowsRead"),
    objectRowsWritten: share("objectRowsWritten"),
    d1Queries: share("d1Queries"),
    d1RowsRead: share("d1RowsRead"),
    d1RowsWritten: share("d1RowsWritten"),
  };
}

function idleFlush(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, IDLE_FLUSH_MS));
}

export async function takeCosts(url: URL): Promise<Costs> {
  const { body } = await send(url, { path: "/bench/costs", headers: {} });
  return JSON.parse(body) as Costs; // made by the bench Worker from a value of this type
}
