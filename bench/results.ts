/** The results of a run, as `--json` prints them. */
import { MEMORY_OBJECT } from "./cases.ts";
import type { Guarantees } from "./guarantees.ts";
import type { ListResult } from "./lists.ts";
import type { Plan, RequestCosts, Speed } from "./measure.ts";
import { dollarsPerMillion } from "./prices.ts";
import { ratiosOf, type Spread, spreadOf } from "./statistics.ts";

export type CaseResult = RequestCosts & {
  readonly id: string;
  readonly name: string;
  /** CPU time of workerd, and in proportion to a call in memory. Absent on a system without /proc. */
  readonly cpu?: { readonly msPerRequest: Spread; readonly ofMemoryObject: Spread };
  readonly p50Ms: Spread;
  readonly dollarsPerMillion: number;
  /** With `LOG_REQUESTS = "1/100"`. */
  readonly sampledDollarsPerMillion: number;
  /** Only a limiter has them, in a full run. */
  readonly guarantees?: Guarantees;
};

export type Results = {
  readonly plan: Plan;
  readonly cases: readonly CaseResult[];
  readonly lists: readonly ListResult[];
};

export function caseResults(
  speeds: ReadonlyMap<string, Speed>,
  bursts: ReadonlyMap<string, RequestCosts>,
  guarantees: ReadonlyMap<string, Guarantees>,
): CaseResult[] {
  const memoryMs = speeds.get(MEMORY_OBJECT)?.cpuMs ?? [];
  return [...speeds].map(([id, { name, cpuMs, p50Ms }]) => {
    const burst = bursts.get(id);
    if (burst === undefined) throw new Error(`the costs of "${name}" were not counted`);
    const hasCpu = cpuMs.length > 0;
    const cpu = hasCpu && { msPerRequest: spreadOf(cpuMs), ofMemoryObject: ratiosOf(cpuMs, memoryMs) };
    const cpuMsPerRequest = cpu ? cpu.msPerRequest.median : undefined;
    const dollarsWith = (logLines: number) =>
      dollarsPerMillion({ ...burst, logLines, cpuMs: cpuMsPerRequest });
    const tested = guarantees.get(id);
    return {
      id,
      name,
      ...(cpu && { cpu }),
      p50Ms: spreadOf(p50Ms),
      ...burst,
      dollarsPerMillion: dollarsWith(burst.logLines.all),
      sampledDollarsPerMillion: dollarsWith(burst.logLines.sampled),
      ...(tested && { guarantees: tested }),
    };
  });
}
