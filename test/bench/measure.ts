/** Measures the speed and the CPU time of each case in rounds, and counts what it costs in a run of its own. */
import { type Case, prepareCases } from "./cases.ts";
import { cpuMsOf } from "./cpu-time.ts";
import { send, sendExpecting } from "./load.ts";
import { startBench } from "./service.ts";
import { rotated } from "./statistics.ts";
import type { Costs } from "./worker/costs.ts";

const WARM_UP_REQUESTS = 300;
/** A limiter writes its exact count when it was idle for a second. That row belongs to the burst before. */
const IDLE_FLUSH_MS = 1_200;
/** A Business key's limit per minute. */
export const COUNTED_REQUESTS = 1_000;

/** One value for each round. */
export type Measured = {
  readonly name: string;
  /** Empty on a system without /proc. */
  readonly cpuMs: number[];
  readonly requestsPerSecond: number[];
  readonly p50Ms: number[];
  readonly p99Ms: number[];
};

export type Plan = { readonly requests: number; readonly rounds: number };

/** By id of the case. */
export async function measureSpeed(
  script: string,
  plan: Plan,
  onStep: (name: string) => void,
): Promise<Map<string, Measured>> {
  const service = await startBench(script, { isCounting: false });
  try {
    const cases = await prepareCases(service, { perMinute: 1_000_000, perDay: 100_000_000 });
    const measured = new Map(
      cases.map(({ id, name }) => [id, { name, cpuMs: [], requestsPerSecond: [], p50Ms: [], p99Ms: [] }]),
    );
    for (const { spec, status } of cases) await sendExpecting(service.url, spec, WARM_UP_REQUESTS, status);
    for (let round = 0; round < plan.rounds; round++) {
      for (const each of rotated(cases, round)) {
        onStep(each.name);
        const result = measured.get(each.id);
        if (result) await measureRound(service, each, plan.requests, result);
      }
    }
    return measured;
  } finally {
    await service.close();
  }
}

async function measureRound(
  service: Awaited<ReturnType<typeof startBench>>,
  { spec, status }: Case,
  requests: number,
  into: Measured,
): Promise<void> {
  const beforeMs = service.workerd ? cpuMsOf(service.workerd) : 0;
  const load = await sendExpecting(service.url, spec, requests, status);
  if (service.workerd) into.cpuMs.push((cpuMsOf(service.workerd) - beforeMs) / load.requests);
  into.requestsPerSecond.push(load.requestsPerSecond);
  into.p50Ms.push(load.p50Ms);
  into.p99Ms.push(load.p99Ms);
}

/** What one request costs on average in a burst, by id of the case. */
export async function measureCosts(
  script: string,
  onStep: (name: string) => void,
): Promise<Map<string, Costs>> {
  const service = await startBench(script, { isCounting: true });
  try {
    const measured = new Map<string, Costs>();
    const cases = await prepareCases(service, { perMinute: COUNTED_REQUESTS, perDay: 100_000 });
    await new Promise((resolve) => setTimeout(resolve, IDLE_FLUSH_MS));
    for (const { id, name, spec, status } of cases) {
      onStep(name);
      await takeCosts(service.url);
      await sendExpecting(service.url, spec, COUNTED_REQUESTS, status);
      await new Promise((resolve) => setTimeout(resolve, IDLE_FLUSH_MS));
      measured.set(id, perRequest(await takeCosts(service.url)));
    }
    return measured;
  } finally {
    await service.close();
  }
}

async function takeCosts(url: URL): Promise<Costs> {
  const { body } = await send(url, { path: "/bench/costs", headers: {} });
  return JSON.parse(body) as Costs; // made by the bench Worker from a value of this type
}

function perRequest(sums: Costs): Costs {
  const share = (key: keyof Costs) => sums[key] / COUNTED_REQUESTS;
  return {
    objectCalls: share("objectCalls"),
    objectRowsRead: share("objectRowsRead"),
    objectRowsWritten: share("objectRowsWritten"),
    d1Queries: share("d1Queries"),
    d1RowsRead: share("d1RowsRead"),
    d1RowsWritten: share("d1RowsWritten"),
  };
}
