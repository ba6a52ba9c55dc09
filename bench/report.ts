/** Prints the results as tables, with what a reader must know of each figure. */
import { HAS_PROC } from "../test/support/workerd-process.ts";
import { EXACTNESS_TRIES, type Guarantees, REACHED_LIMIT, TESTED_STATUSES } from "./guarantees.ts";
import { CONNECTIONS } from "./load.ts";
import { BURST_REQUESTS, type Plan } from "./measure.ts";
import { PRICES } from "./prices.ts";
import type { CaseResult, Results } from "./results.ts";
import { type Column, tableOf } from "./table.ts";

export function printResults({ cases, lists, plan }: Results): void {
  if (cases.length > 0) {
    const hasGuarantees = cases.some(({ guarantees }) => guarantees !== undefined);
    const columns = [name, ...(HAS_PROC ? cpuColumns : []), ...costColumns];
    console.log(tableOf(hasGuarantees ? [...columns, ...guaranteeColumns] : columns, cases));
    console.log(`\n${notes(plan, hasGuarantees).join("\n")}`);
  }
  if (lists.length > 0) printLists(lists);
}

const name: Column<CaseResult> = { head: "", cell: (row) => row.name };

const cpuColumns: Column<CaseResult>[] = [
  { head: "CPU ms", cell: ({ cpu }) => cpu?.msPerRequest.median.toFixed(2) ?? "" },
  {
    head: "of a call in memory",
    cell: ({ cpu }) => {
      if (!cpu) return "";
      const { median, low, high } = cpu.ofMemoryObject;
      return `${median.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;
    },
  },
];

const costColumns: Column<CaseResult>[] = [
  { head: "p50 ms", cell: ({ p50Ms }) => p50Ms.median.toFixed(0) },
  { head: "object calls", cell: ({ costs }) => count(costs.objectCalls) },
  { head: "D1 queries", cell: ({ costs }) => count(costs.d1Queries) },
  { head: "rows read", cell: ({ costs }) => count(costs.objectRowsRead + costs.d1RowsRead) },
  { head: "rows written", cell: ({ costs }) => count(costs.objectRowsWritten + costs.d1RowsWritten) },
  { head: "$ a million", cell: (row) => row.dollarsPerMillion.toFixed(2) },
  { head: "$ at 1/100", cell: (row) => row.sampledDollarsPerMillion.toFixed(2) },
];

const guaranteeColumns: Column<CaseResult>[] = [
  {
    head: `admitted of ${REACHED_LIMIT}`,
    cell: ({ guarantees }) => (guarantees ? admitted(guarantees) : ""),
  },
  { head: "headers", cell: ({ guarantees }) => (guarantees ? headers(guarantees) : "") },
  { head: "after SIGKILL", cell: ({ guarantees }) => (guarantees ? survival(guarantees) : "") },
];

const NOT_MEASURED = "not measured";

function admitted({ admitted }: Guarantees): string {
  if (admitted === undefined) return NOT_MEASURED;
  const [min, max] = [Math.min(...admitted), Math.max(...admitted)];
  return min === max ? `${min}` : `${min}–${max}`;
}

function headers({ statusesWithHeaders }: Guarantees): string {
  if (statusesWithHeaders === undefined) return NOT_MEASURED;
  return `${statusesWithHeaders.length} of ${TESTED_STATUSES.length}`;
}

function survival({ admittedWithSigkill }: Guarantees): string {
  if (admittedWithSigkill === undefined) return NOT_MEASURED;
  const gained = admittedWithSigkill - REACHED_LIMIT;
  if (gained > 0) return `${gained} gained`;
  return gained === 0 ? "exact" : `${-gained} lost`;
}

function count(value: number): string {
  return `${Number(value.toFixed(3))}`;
}

function notes({ rounds, requests }: Plan, hasGuarantees: boolean): string[] {
  const guaranteed = [
    `Admitted: of ${10 * REACHED_LIMIT} requests, sent at once to two isolates, where the limit is ${REACHED_LIMIT}; ${EXACTNESS_TRIES} tries.`,
    `Headers: on how many of the statuses ${TESTED_STATUSES.join(", ")} the response carried the rate limit.`,
    "After SIGKILL: part of a limit used, workerd killed and started again on the same storage, the rest used.",
  ];
  return [
    `Medians of ${rounds} rounds. Each sends ${requests} requests over ${CONNECTIONS} connections to each row, in random order.`,
    HAS_PROC
      ? "CPU: of workerd, with its local D1, Durable Objects and bindings. Of a call in memory: ratio within a round, and its quartiles."
      : "CPU time is left out, because this system has no /proc.",
    `Calls, queries and rows: per request in a burst of ${BURST_REQUESTS} on a key with that limit, the limiter's idle flush included.`,
    `Dollars: Cloudflare's prices of ${PRICES.date}, beyond what the plan includes, for the burst and all CPU time of workerd; at 1/100: with that LOG_REQUESTS.`,
    "Cloudflare's binding is Miniflare's emulation: one counter here, one for each location when deployed.",
    ...(hasGuarantees ? guaranteed : []),
  ];
}

type ListRow = Results["lists"][number];

const listColumns: Column<ListRow>[] = [
  { head: "list", cell: ({ list }) => list },
  { head: "orders", cell: ({ orders }) => orders.toLocaleString("en") },
  ...(["cold", "changed", "unchanged"] as const).flatMap((state): Column<ListRow>[] => [
    { head: `${state}: first byte ms`, cell: ({ states }) => states[state]?.firstByteMs.toFixed(0) ?? "–" },
    { head: "total ms", cell: ({ states }) => states[state]?.totalMs.toFixed(0) ?? "–" },
    { head: "rows read", cell: ({ states }) => states[state]?.rowsRead?.toLocaleString("en") ?? "–" },
  ]),
  {
    head: "more MB",
    cell: ({ memory }) => (memory ? (memory.peak - memory.before).toFixed(0) : "–"),
  },
];

function printLists(lists: readonly ListRow[]): void {
  console.log(`\n${tableOf(listColumns, lists)}`);
  console.log(
    "\nCold: the first list of the process. Changed: after one order changed. Unchanged: with If-None-Match, if there was an ETag.\n" +
      "More MB: peak of workerd's resident memory, with its local D1, above that before the first list. An isolate on Cloudflare has 128 MB.",
  );
}
