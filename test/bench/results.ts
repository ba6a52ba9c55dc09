/** The results of a run, as `--json` prints them. */
import type { Guarantees } from "./guarantees.ts";
import type { ListResult } from "./lists.ts";
import type { Plan, RequestCosts, Speed } from "./measure.ts";
import { dollarsPerMillion } from "./prices.ts";
import { BARE } from "./service.ts";
import { ratiosOf, type Spread, spreadOf } from "./statistics.ts";

/** The service's line for each request. The others write none. */
const LOG_LINES = 1;

export type CaseResult = RequestCosts & {
  readonly id: string;
  readonly name: string;
  /** CPU time of workerd. Absent on a system without /proc. */
  readonly cpu?: { readonly msPerRequest: Spread; readonly ofBare: Spread };
  readonly requestsPerSecond: Spread;
  readonly p50Ms: Spread;
  readonly p99Ms: Spread;
  readonly dollarsPerMillion: number;
  /** Of a limiter, in a full run. */
  readonly guarantees?: Guarantees;
};

export type Results = {
  readonly plan: Plan;
  readonly cases: readonly CaseResult[];
  readonly lists: readonly ListResult[];
};

/** `limiters`: the ids of the Workers beside the service. */
export function caseResults(
  limiters: ReadonlySet<string>,
  speeds: ReadonlyMap<string, Speed>,
  bursts: ReadonlyMap<string, RequestCosts>,
  guarantees: ReadonlyMap<string, Guarantees>,
): CaseResult[] {
  const bareMs = speeds.get(BARE)?.cpuMs ?? [];
  return [...speeds].map(([id, { name, cpuMs, requestsPerSecond, p50Ms, p99Ms }]) => {
    const burst = bursts.get(id);
    if (burst === undefined) throw new Error(`the costs of "${name}" were not counted`);
    const hasCpu = cpuMs.length > 0;
    const cpu = hasCpu && { msPerRequest: spreadOf(cpuMs), ofBare: ratiosOf(cpuMs, bareMs) };
    const tested = guarantees.get(id);
    return {
      id,
      name,
      ...(cpu && { cpu }),
      requestsPerSecond: spreadOf(requestsPerSecond),
      p50Ms: spreadOf(p50Ms),
      p99Ms: spreadOf(p99Ms),
      ...burst,
      dollarsPerMillion: dollarsPerMillion({
        ...burst,
        cpuMs: cpu ? cpu.msPerRequest.median : undefined,
        logLines: limiters.has(id) ? 0 : LOG_LINES,
      }),
      ...(tested && { guarantees: tested }),
    };
  });
}
