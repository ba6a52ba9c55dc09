/** The results of a run, as `--json` prints them. */
import { BARE, HOT_PATH } from "./cases.ts";
import type { Guarantees } from "./guarantees.ts";
import type { ListFigures } from "./list-figures.ts";
import type { ListResult } from "./lists.ts";
import { type Plan, type RequestCosts, SLOW_CLIENT, type Speed } from "./measure.ts";
import { dollarsPerMillion } from "./prices.ts";
import { RIVALS } from "./rivals/names.ts";
import { ratiosOf, type Spread, spreadOf } from "./statistics.ts";

/** The Worker's line for each request. The others write none. */
const OUR_LOG_LINES = 1;

export type CaseResult = RequestCosts & {
  readonly id: string;
  readonly name: string;
  /** CPU time of workerd. Absent on a system without /proc. */
  readonly cpu?: { readonly msPerRequest: Spread; readonly ofBare: Spread; readonly ofHotPath: Spread };
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
  /** Of a client that waits more than a second between requests, which our limiter cannot save rows for. */
  readonly slowClient?: RequestCosts & { readonly dollarsPerMillion: number };
  readonly lists: readonly ListResult[];
  readonly listFigures?: ListFigures;
};

export function caseResults(
  speeds: ReadonlyMap<string, Speed>,
  bursts: ReadonlyMap<string, RequestCosts>,
  guarantees: ReadonlyMap<string, Guarantees>,
): CaseResult[] {
  const cpuOf = (id: string) => speeds.get(id)?.cpuMs ?? [];
  return [...speeds].map(([id, { name, cpuMs, requestsPerSecond, p50Ms, p99Ms }]) => {
    const burst = bursts.get(id);
    if (burst === undefined) throw new Error(`the costs of "${name}" were not counted`);
    const cpu =
      cpuMs.length === 0
        ? undefined
        : {
            msPerRequest: spreadOf(cpuMs),
            ofBare: ratiosOf(cpuMs, cpuOf(BARE)),
            ofHotPath: ratiosOf(cpuMs, cpuOf(HOT_PATH)),
          };
    const logLines = id === BARE || id in RIVALS ? 0 : OUR_LOG_LINES;
    const tested = guarantees.get(id);
    return {
      id,
      name,
      ...(cpu ? { cpu } : {}),
      requestsPerSecond: spreadOf(requestsPerSecond),
      p50Ms: spreadOf(p50Ms),
      p99Ms: spreadOf(p99Ms),
      ...burst,
      dollarsPerMillion: dollarsPerMillion({ ...burst, cpuMs: cpu?.msPerRequest.median, logLines }),
      ...(tested ? { guarantees: tested } : {}),
    };
  });
}

/** Without CPU time, which is measured in bursts only. */
export function slowClientResult(costs: ReadonlyMap<string, RequestCosts>): Pick<Results, "slowClient"> {
  const slow = costs.get(SLOW_CLIENT);
  if (slow === undefined) return {};
  const dollars = dollarsPerMillion({ ...slow, cpuMs: undefined, logLines: OUR_LOG_LINES });
  return { slowClient: { ...slow, dollarsPerMillion: dollars } };
}
