/** Measures the speed and the CPU time of each case in rounds, and counts what it costs in a run of its own. */
import { type Case, casesOfOthers, prepareService } from "./cases.ts";
import { cpuMsOf } from "./cpu-time.ts";
import { send, sendExpecting } from "./load.ts";
import { type BenchService, type MeasuredWorker, startBench } from "./service.ts";
import { rotated } from "./statistics.ts";
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
  readonly requestsPerSecond: number[];
  readonly p50Ms: number[];
  readonly p99Ms: number[];
};

export type OnStep = (name: string) => void;

/** The Workers that are measured: the service, and those that it is compared with. */
export type Workers = { readonly service: MeasuredWorker; readonly others: readonly MeasuredWorker[] };

/** Limits that no run reaches. */
const UNREACHED = { perMinute: 1_000_000, perDay: 100_000_000 };

/** By id of the case. */
export async function measureSpeed(
  { service: measured, others }: Workers,
  plan: Plan,
  onStep: OnStep,
): Promise<Map<string, Speed>> {
  const service = await startBench({ workers: [measured, ...others], limit: UNREACHED.perDay });
  try {
    const cases = [...casesOfOthers(others), ...(await prepareService(service, UNREACHED))];
    const speeds = new Map(
      cases.map(({ id, name }): [string, Speed] => [
        id,
        { name, cpuMs: [], requestsPerSecond: [], p50Ms: [], p99Ms: [] },
      ]),
    );
    for (const { worker, spec, status } of cases)
      await sendExpecting(service.url(worker), spec, Math.ceil(plan.requests / 2), status);
    for (let round = 0; round < plan.rounds; round++) {
      for (const each of rotated(cases, round)) {
        onStep(each.name);
        const speed = speeds.get(each.id);
        if (speed) await measureRound(service, each, plan.requests, speed);
      }
    }
    return speeds;
  } finally {
    await service.close();
  }
}

async function measureRound(
  { url, workerd }: BenchService,
  { worker, spec: first, renew, status }: Case,
  requests: number,
  speed: Speed,
): Promise<void> {
  const spec = (await renew?.()) ?? first;
  const beforeMs = workerd ? cpuMsOf(workerd) : 0;
  const load = await sendExpecting(url(worker), spec, requests, status);
  if (workerd) speed.cpuMs.push((cpuMsOf(workerd) - beforeMs) / load.requests);
  speed.requestsPerSecond.push(load.requestsPerSecond);
  speed.p50Ms.push(load.p50Ms);
  speed.p99Ms.push(load.p99Ms);
}

/** What one request costs on average. */
export type RequestCosts = {
  readonly costs: Costs;
  /** How long an object is active for it: in a burst all the time, else until the answer. Zero without an object. */
  readonly objectActiveMs: number;
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
      measured.set(id, await measureBurst(service.url(worker), spec, status));
    }
    return measured;
  } finally {
    await service.close();
  }
}

async function measureBurst(url: URL, spec: Case["spec"], status: number): Promise<RequestCosts> {
  await takeCosts(url);
  const load = await sendExpecting(url, spec, BURST_REQUESTS, status);
  const during = await takeCosts(url);
  const hasObject = during.objectCalls > 0;
  if (hasObject) await idleFlush();
  const after = await takeCosts(url);
  return {
    costs: perRequest(load.requests, during, after),
    objectActiveMs: hasObject ? 1000 / load.requestsPerSecond : 0,
  };
}

function perRequest(requests: number, ...sums: readonly Costs[]): Costs {
  const share = (key: keyof Costs) => sums.reduce((total, each) => total + each[key], 0) / requests;
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
