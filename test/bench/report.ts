/** Prints the results as tables, with what a reader must know of each figure. */
import Table from "cli-table3";
import { BARE, HOT_PATH } from "./cases.ts";
import { HAS_PROC } from "./cpu-time.ts";
import { EXACTNESS_TRIES, type Guarantees, TESTED_STATUSES } from "./guarantees.ts";
import type { ListFigures } from "./list-figures.ts";
import { CONNECTIONS } from "./load.ts";
import { BURST_REQUESTS, type Plan } from "./measure.ts";
import { PRICES } from "./prices.ts";
import type { CaseResult, Results } from "./results.ts";
import { REACHED_LIMIT, RIVALS } from "./rivals/names.ts";
import { type Spread, spreadOf } from "./statistics.ts";

export function printResults({ cases, slowClient, lists, listFigures, plan }: Results): void {
  if (cases.length > 0) {
    const hasGuarantees = cases.some(({ guarantees }) => guarantees !== undefined);
    console.log("Limiters, on a route that answers a small JSON:");
    print(limiterColumns(hasGuarantees), cases.filter(isLimiter));
    console.log("\nKinds of request:");
    print(requestColumns, cases.filter(isKindOfRequest));
    console.log(`\n${notes(plan, hasGuarantees).join("\n")}`);
    if (slowClient) console.log(slowClientNote(slowClient));
  }
  if (lists.length > 0) printLists(lists);
  if (listFigures) printFigures(listFigures);
}

const isLimiter = ({ id }: CaseResult) => id in RIVALS || id === BARE || id === HOT_PATH;
const isKindOfRequest = ({ id }: CaseResult) => !(id in RIVALS) || id === "memory-object";

type Column<T> = { readonly head: string; readonly cell: (row: T) => string };

const cpuColumns: Column<CaseResult>[] = [
  { head: "CPU ms", cell: ({ cpu }) => cpu?.msPerRequest.median.toFixed(2) ?? "" },
  { head: "CPU, of bare", cell: ({ cpu }) => withSpread(cpu?.ofBare) },
];

const costColumns: Column<CaseResult>[] = [
  { head: "p50 ms", cell: ({ p50Ms }) => p50Ms.median.toFixed(0) },
  { head: "p99 ms", cell: ({ p99Ms }) => p99Ms.median.toFixed(0) },
  { head: "object calls", cell: ({ costs }) => count(costs.objectCalls) },
  { head: "D1 queries", cell: ({ costs }) => count(costs.d1Queries) },
  { head: "rows read", cell: ({ costs }) => count(costs.objectRowsRead + costs.d1RowsRead) },
  { head: "rows written", cell: ({ costs }) => count(costs.objectRowsWritten + costs.d1RowsWritten) },
  { head: "$ per million", cell: (row) => row.dollarsPerMillion.toFixed(2) },
];

const guaranteeColumns: Column<CaseResult>[] = [
  { head: "exact at 10×", cell: ({ guarantees }) => (guarantees ? exactness(guarantees) : "") },
  { head: "headers", cell: ({ guarantees }) => (guarantees ? headers(guarantees) : "") },
  { head: "survives SIGKILL", cell: ({ guarantees }) => (guarantees ? survival(guarantees) : "") },
];

const name: Column<CaseResult> = { head: "", cell: (row) => row.name };

const limiterColumns = (hasGuarantees: boolean) => [
  name,
  ...(HAS_PROC ? cpuColumns : []),
  ...costColumns,
  ...(hasGuarantees ? guaranteeColumns : []),
];

const requestColumns: Column<CaseResult>[] = [
  name,
  ...(HAS_PROC
    ? [...cpuColumns, { head: "CPU, of hot path", cell: ({ cpu }: CaseResult) => withSpread(cpu?.ofHotPath) }]
    : []),
  { head: "requests/s", cell: ({ requestsPerSecond }) => requestsPerSecond.median.toFixed(0) },
  ...costColumns,
];

const NOT_MEASURED = "not measured";

function exactness({ admitted }: Guarantees): string {
  if (admitted === undefined) return NOT_MEASURED;
  const { min, max } = spreadOf(admitted);
  return `${min === max ? min : `${min}–${max}`} of ${REACHED_LIMIT}`;
}

function headers({ statusesWithHeaders }: Guarantees): string {
  if (statusesWithHeaders === undefined) return NOT_MEASURED;
  return `${statusesWithHeaders.length}/${TESTED_STATUSES.length}`;
}

function survival({ admittedWithSigkill }: Guarantees): string {
  if (admittedWithSigkill === undefined) return NOT_MEASURED;
  const gained = admittedWithSigkill - REACHED_LIMIT;
  if (gained > 0) return `no: ${gained} gained`;
  return gained === 0 ? "yes" : `yes, ${-gained} lost`;
}

function print<T>(columns: readonly Column<T>[], rows: readonly T[]): void {
  const table = new Table({
    head: columns.map(({ head }) => head),
    colAligns: columns.map((_, i) => (i === 0 ? "left" : "right")),
    style: { head: [], border: [], compact: true },
  });
  for (const row of rows) table.push(columns.map(({ cell }) => cell(row)));
  console.log(table.toString());
}

function withSpread(spread: Spread | undefined): string {
  if (spread === undefined) return "";
  return `${spread.median.toFixed(2)} (${spread.min.toFixed(2)}–${spread.max.toFixed(2)})`;
}

function count(value: number): string {
  return `${Number(value.toFixed(3))}`;
}

function notes({ rounds, requests }: Plan, hasGuarantees: boolean): string[] {
  const guaranteed = [
    `Exact at 10×: how many of ${10 * REACHED_LIMIT} requests a limit of ${REACHED_LIMIT} admitted, sent at once to two isolates; ${EXACTNESS_TRIES} tries.`,
    `Headers: on how many of the statuses ${TESTED_STATUSES.join(", ")} the response carried the rate limit.`,
    "Survives SIGKILL: part of a limit used, workerd killed and started again on the same storage, the rest used.",
  ];
  return [
    `Medians (min–max) of ${rounds} rounds of ${requests} requests over ${CONNECTIONS} connections, sent by another process.`,
    HAS_PROC
      ? "CPU: user and system time of workerd, with its local D1, Durable Objects and emulated bindings."
      : "CPU time is left out, because this system has no /proc.",
    `Calls, queries and rows: per request in a burst of ${BURST_REQUESTS} on one key, the limiter's idle flush included.`,
    `Dollars: Cloudflare's prices of ${PRICES.date}, beyond what the plan includes, for the burst and all CPU time of workerd.`,
    "Cloudflare's binding is Miniflare's emulation: one counter here, one for each location when deployed.",
    ...(hasGuarantees ? guaranteed : []),
  ];
}

function slowClientNote({ costs, dollarsPerMillion }: NonNullable<Results["slowClient"]>): string {
  const written = count(costs.objectRowsWritten + costs.d1RowsWritten);
  return `Ours, for clients that pause more than a second between requests: ${written} rows written, $${dollarsPerMillion.toFixed(2)} per million.`;
}

type ListRow = Results["lists"][number];

const listColumns: Column<ListRow>[] = [
  { head: "orders", cell: ({ orders }) => orders.toLocaleString("en") },
  { head: "list", cell: ({ list }) => list },
  ...(["cold", "changed", "unchanged"] as const).flatMap((state): Column<ListRow>[] => [
    { head: `${state}: first byte ms`, cell: ({ states }) => states[state]?.firstByteMs.toFixed(0) ?? "–" },
    { head: "total ms", cell: ({ states }) => states[state]?.totalMs.toFixed(0) ?? "–" },
    { head: "rows read", cell: ({ states }) => states[state]?.rowsRead?.toLocaleString("en") ?? "–" },
  ]),
  { head: "peak MB (more)", cell: ({ memory }) => (memory ? growth(memory) : "–") },
];

function growth({ before, peak }: { before: number; peak: number }): string {
  return `${peak.toFixed(0)} (+${(peak - before).toFixed(0)})`;
}

function printLists(lists: readonly ListRow[]): void {
  console.log("\nThe list of all orders:");
  print(listColumns, lists);
  for (const { list, orders, failure } of lists) {
    if (failure !== undefined) console.log(`${list}, ${orders.toLocaleString("en")} orders: ${failure}`);
  }
  console.log(
    "Cold: the first list of the process. Changed: after one order changed. Unchanged: with If-None-Match, if there was an ETag.\n" +
      "Peak: resident memory of workerd with its local D1, and how much more than before the first list. An isolate on Cloudflare has 128 MB.",
  );
}

function printFigures({ cpuOfHotPath, afterCancel, stalledMegabytes }: ListFigures): void {
  const { statements, rowsRead, sent } = afterCancel;
  const cpu = Object.entries(cpuOfHotPath).map(
    ([name, ratio]) =>
      `CPU of ${name}: ${ratio.toFixed(2)} times the hot path, over ${CONNECTIONS} connections.`,
  );
  const lines = [
    ...cpu,
    `100 lists at once of 100,000 orders after one cancel: ${statements} statements, ${rowsRead.toLocaleString("en")} rows read, ${sent} sent, the others 503.`,
    `60 stalled readers of 120,000 orders: ${stalledMegabytes?.toFixed(1) ?? "–"} MB more in the isolate.`,
  ];
  console.log(lines.join("\n"));
}
