/** `--scaling`: what the service costs a month as the number of keys grows, from counts that tests measure (docs/scaling.md). */
import Table from "cli-table3";
import { PRICES } from "./prices.ts";

const DAYS_PER_MONTH = 30;
const SECONDS_PER_DAY = 86_400;

/** What a month of the paid plan includes, for $5. */
const INCLUDED = {
  workerRequests: 10e6,
  workerCpuMs: 30e6,
  logLines: 20e6,
  objectCalls: 1e6,
  objectGbSeconds: 400_000,
  objectRowsWritten: 50e6,
  objectRowsRead: 25e9,
  d1RowsWritten: 50e6,
  d1RowsRead: 25e9,
} as const;
const PLAN_DOLLARS = 5;

/** Counts of one request, or of one key and day. */
type Counts = Partial<Record<keyof typeof INCLUDED, number>>;

/** One alarm an hour: it stores, reports and sets the next one. The keys are in use in each hour. */
const HOURS = 24;
const KEY_AND_DAY: Counts = { objectCalls: HOURS, objectRowsWritten: 3 * HOURS, d1RowsWritten: 2 * HOURS };
/** In memory for the milliseconds of a call, unless a key is in use all day. */
const OBJECT_GB = 0.128;
const CALL_SECONDS = 0.005;

/** A request for an unchanged list. */
type Traffic = Counts & { readonly d1Queries: number };

/** From a client that pauses: its count is one row, and its limiter loads the policy anew (6 rows). */
const SLOW_CLIENT: Traffic = {
  workerRequests: 1,
  workerCpuMs: 1,
  logLines: 1,
  objectCalls: 1,
  objectRowsWritten: 1,
  d1RowsRead: 7,
  d1Queries: 2,
};
/** 25,000 a minute on a key with 30,000: a write for each block of 3,000, and shared reads of D1. */
const BUSY_KEY: Traffic = { ...SLOW_CLIENT, objectRowsWritten: 9 / 25_000, d1RowsRead: 0.3, d1Queries: 0.3 };

export type Scenario = {
  readonly name: string;
  readonly keys: number;
  readonly requestsPerKeyAndDay: number;
  readonly request: Traffic;
};

export const SCENARIOS: readonly Scenario[] = [
  { name: "1,000 keys", keys: 1e3, requestsPerKeyAndDay: 300, request: SLOW_CLIENT },
  { name: "100,000 keys", keys: 1e5, requestsPerKeyAndDay: 300, request: SLOW_CLIENT },
  { name: "10,000,000 keys", keys: 1e7, requestsPerKeyAndDay: 300, request: SLOW_CLIENT },
  { name: "100,000 a minute, on 4 keys", keys: 4, requestsPerKeyAndDay: 25_000 * 1_440, request: BUSY_KEY },
];

export type ScalingResult = {
  readonly name: string;
  readonly requestsPerSecond: number;
  /** On average over the day. */
  readonly d1QueriesPerSecond: number;
  readonly d1RowsWrittenPerDay: number;
  readonly dollars: Readonly<Record<"worker" | "logs" | "objects" | "objectRows" | "d1" | "total", number>>;
};

export function scale({ name, keys, requestsPerKeyAndDay, request }: Scenario): ScalingResult {
  const requests = keys * requestsPerKeyAndDay;
  const activeSecondsPerKey = Math.min(SECONDS_PER_DAY, requestsPerKeyAndDay * CALL_SECONDS);
  const perDay = (item: keyof typeof INCLUDED) => {
    if (item === "objectGbSeconds") return keys * activeSecondsPerKey * OBJECT_GB;
    return requests * (request[item] ?? 0) + keys * (KEY_AND_DAY[item] ?? 0);
  };
  /** A month's, in millions. */
  const billed = (item: keyof typeof INCLUDED) =>
    Math.max(0, DAYS_PER_MONTH * perDay(item) - INCLUDED[item]) / 1e6;
  const worker =
    PRICES.workerRequests * billed("workerRequests") + PRICES.workerCpuMs * billed("workerCpuMs");
  const logs = PRICES.logLines * billed("logLines");
  const objects =
    PRICES.objectCalls * billed("objectCalls") + PRICES.objectGbSeconds * billed("objectGbSeconds");
  const objectRows = PRICES.rowsWritten * billed("objectRowsWritten");
  const d1 = PRICES.rowsRead * billed("d1RowsRead") + PRICES.rowsWritten * billed("d1RowsWritten");
  return {
    name,
    requestsPerSecond: requests / SECONDS_PER_DAY,
    d1QueriesPerSecond: (requests * request.d1Queries) / SECONDS_PER_DAY,
    d1RowsWrittenPerDay: perDay("d1RowsWritten"),
    dollars: {
      worker,
      logs,
      objects,
      objectRows,
      d1,
      total: PLAN_DOLLARS + worker + logs + objects + objectRows + d1,
    },
  };
}

export function printScaling(results: readonly ScalingResult[]): void {
  const table = new Table({
    head: [
      "",
      "requests/s",
      "D1 queries/s",
      "D1 rows written a day",
      "Worker $",
      "logs $",
      "objects $",
      "their rows $",
      "D1 $",
      "month $",
    ],
    colAligns: ["left", ...Array.from({ length: 9 }, () => "right" as const)],
    style: { head: [], border: [], compact: true },
  });
  for (const { name, requestsPerSecond, d1QueriesPerSecond, d1RowsWrittenPerDay, dollars } of results) {
    const { worker, logs, objects, objectRows, d1, total } = dollars;
    const figures = [
      requestsPerSecond,
      d1QueriesPerSecond,
      d1RowsWrittenPerDay,
      worker,
      logs,
      objects,
      objectRows,
      d1,
      total,
    ];
    table.push([name, ...figures.map((figure) => Math.round(figure).toLocaleString("en"))]);
  }
  console.log(table.toString());
}
