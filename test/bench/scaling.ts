/** `--scaling`: what a month costs and which limit comes first as keys and traffic grow, from counts that tests measure (docs/performance.md). */
import { OBJECT_GB, PRICES } from "./prices.ts";
import { type Column, tableOf } from "./table.ts";

const DAYS_PER_MONTH = 30;
const SECONDS_PER_DAY = 86_400;

/** What a month of the paid plan includes, for $5. Storage in GB. */
const INCLUDED = {
  workerRequests: 10e6,
  workerCpuMs: 30e6,
  logLines: 20e6,
  objectCalls: 1e6,
  objectGbSeconds: 400_000,
  objectRowsWritten: 50e6,
  d1RowsRead: 25e9,
  d1RowsWritten: 50e6,
  d1Storage: 5,
  objectStorage: 5,
} as const;
const PLAN_DOLLARS = 5;

type Item = keyof typeof INCLUDED;

/** Of the service's defaults: POLICY_MAX_AGE_SECONDS and USAGE_RETENTION_DAYS, and the value that docs/performance.md advises for many keys. */
const POLICY_MAX_AGE = { usual: 60, long: 600 } as const;
const USAGE_RETENTION_DAYS = 400;

/** Bytes in D1 of a key with its owner and one secret, and of an hour's usage, with their indexes; measured with SQLite. An object is at least a page. */
const KEY_BYTES = 606;
const USAGE_BYTES = 54;
const OBJECT_BYTES = 4_096;

/** An hour in use: an alarm, which stores, reports and sets the next one. The row in D1 and its index are written once and deleted once. */
const HOUR = { objectCalls: 1, objectRowsWritten: 3, d1RowsWritten: 4, d1RowsRead: 4 } as const;
const POLICY_ROWS_READ = 4;
const CPU_MS = 1;

/** What D1 does: one query at a time, 1 ms each; 10 GB; 100,000 rows an hour that the cron deletes. */
export const D1 = { queriesPerSecond: 1_000, gigabytes: 10, deletedRowsPerDay: 2_400_000 } as const;

/** The traffic of one key, all of it for an unchanged list. */
type Shape = {
  readonly name: string;
  readonly requestsPerDay: number;
  readonly hoursInUse: number;
  readonly objectRowsPerRequest: number;
  readonly objectSecondsPerDay: number;
  /** Concurrent requests of an isolate share one. */
  readonly listReadsPerRequest: number;
  readonly policyReadsPerDay: (maxAgeSeconds: number) => number;
};

const SHAPES: readonly Shape[] = [
  {
    name: "1 request a day",
    requestsPerDay: 1,
    hoursInUse: 1,
    objectRowsPerRequest: 1,
    objectSecondsPerDay: 0.005,
    listReadsPerRequest: 1,
    policyReadsPerDay: () => 1,
  },
  {
    name: "1 request a minute",
    requestsPerDay: 1_440,
    hoursInUse: 24,
    objectRowsPerRequest: 1,
    objectSecondsPerDay: 1_440 * 0.005,
    listReadsPerRequest: 1,
    // It is read ahead from half of its age on.
    policyReadsPerDay: (maxAge) => Math.min(1_440, SECONDS_PER_DAY / (maxAge / 2)),
  },
  {
    // A Business key at its limit of the day: 19 rows for a burst, which takes two seconds, and a second until the limiter is idle.
    name: "100 bursts of 1,000 a day",
    requestsPerDay: 100_000,
    hoursInUse: 24,
    objectRowsPerRequest: 0.019,
    objectSecondsPerDay: 100 * 3,
    listReadsPerRequest: 0.24,
    policyReadsPerDay: () => 100,
  },
];

const KEYS = [1_000, 100_000, 10_000_000] as const;

export type Scale = {
  readonly keys: number;
  readonly traffic: string;
  readonly requestsPerSecond: number;
  readonly dollars: Readonly<
    Record<"worker" | "logs" | "objects" | "objectRows" | "d1" | "storage" | "total", number>
  >;
  /** Queries a second of D1, on average over the day. */
  readonly policyReads: { readonly usual: number; readonly long: number };
  readonly listReads: number;
  readonly reports: number;
  readonly d1Gigabytes: number;
  readonly firstLimit: string;
};

export const SCALES: readonly Scale[] = SHAPES.flatMap((shape) => KEYS.map((keys) => scale(keys, shape)));

function scale(keys: number, shape: Shape): Scale {
  const requests = keys * shape.requestsPerDay;
  const hours = keys * shape.hoursInUse;
  const perSecond = (perDay: number) => perDay / SECONDS_PER_DAY;
  const policyReads = (maxAge: number) => keys * shape.policyReadsPerDay(maxAge);
  const d1Gigabytes = (keys * KEY_BYTES + hours * USAGE_RETENTION_DAYS * USAGE_BYTES) / 1e9;
  const listReads = requests * shape.listReadsPerRequest;
  const perDay: Record<Exclude<Item, "d1Storage" | "objectStorage">, number> = {
    workerRequests: requests,
    workerCpuMs: requests * CPU_MS,
    logLines: requests,
    objectCalls: requests + hours * HOUR.objectCalls,
    objectGbSeconds: keys * shape.objectSecondsPerDay * OBJECT_GB,
    objectRowsWritten: requests * shape.objectRowsPerRequest + hours * HOUR.objectRowsWritten,
    d1RowsRead: listReads + policyReads(POLICY_MAX_AGE.usual) * POLICY_ROWS_READ + hours * HOUR.d1RowsRead,
    d1RowsWritten: hours * HOUR.d1RowsWritten,
  };
  const beyond = (item: Item, used: number) => Math.max(0, used - INCLUDED[item]);
  const billed = (item: keyof typeof perDay, price: number) =>
    (price * beyond(item, DAYS_PER_MONTH * perDay[item])) / 1e6;
  const dollars = {
    worker: billed("workerRequests", PRICES.workerRequests) + billed("workerCpuMs", PRICES.workerCpuMs),
    logs: billed("logLines", PRICES.logLines),
    objects: billed("objectCalls", PRICES.objectCalls) + billed("objectGbSeconds", PRICES.objectGbSeconds),
    objectRows: billed("objectRowsWritten", PRICES.rowsWritten),
    d1: billed("d1RowsRead", PRICES.rowsRead) + billed("d1RowsWritten", PRICES.rowsWritten),
    storage:
      PRICES.d1Storage * beyond("d1Storage", d1Gigabytes) +
      PRICES.objectStorage * beyond("objectStorage", (keys * OBJECT_BYTES) / 1e9),
  };
  const total = Object.values(dollars).reduce((sum, each) => sum + each, PLAN_DOLLARS);
  const queries = policyReads(POLICY_MAX_AGE.usual) + listReads + hours;
  return {
    keys,
    traffic: shape.name,
    requestsPerSecond: perSecond(requests),
    dollars: { ...dollars, total },
    policyReads: {
      usual: perSecond(policyReads(POLICY_MAX_AGE.usual)),
      long: perSecond(policyReads(POLICY_MAX_AGE.long)),
    },
    listReads: perSecond(listReads),
    reports: perSecond(hours),
    d1Gigabytes,
    firstLimit: firstLimit({
      "queries of D1": perSecond(queries) / D1.queriesPerSecond,
      "size of D1": d1Gigabytes / D1.gigabytes,
      "rows that the cron deletes": hours / D1.deletedRowsPerDay,
    }),
  };
}

/** The one that is passed most. The value is the part of it that is used. */
function firstLimit(used: Readonly<Record<string, number>>): string {
  const [first] = Object.entries(used).toSorted(([, a], [, b]) => b - a);
  if (first === undefined || first[1] <= 1) return "none";
  return `${first[0]}, ${amount(first[1])} times`;
}

function amount(value: number): string {
  return value > 0 && value < 10
    ? value.toLocaleString("en", { maximumSignificantDigits: 2 })
    : Math.round(value).toLocaleString("en");
}

const dollar = (value: number) => Math.round(value).toLocaleString("en");

const head: Column<Scale>[] = [
  { head: "each key", cell: ({ traffic }) => traffic },
  { head: "keys", cell: ({ keys }) => keys.toLocaleString("en") },
];

const costColumns: Column<Scale>[] = [
  ...head,
  { head: "requests/s", cell: ({ requestsPerSecond }) => amount(requestsPerSecond) },
  { head: "Worker $", cell: ({ dollars }) => dollar(dollars.worker) },
  { head: "logs $", cell: ({ dollars }) => dollar(dollars.logs) },
  { head: "objects $", cell: ({ dollars }) => dollar(dollars.objects) },
  { head: "their rows $", cell: ({ dollars }) => dollar(dollars.objectRows) },
  { head: "D1 $", cell: ({ dollars }) => dollar(dollars.d1) },
  { head: "storage $", cell: ({ dollars }) => dollar(dollars.storage) },
  { head: "month $", cell: ({ dollars }) => dollar(dollars.total) },
];

const limitColumns: Column<Scale>[] = [
  ...head,
  { head: "policy reads/s, 60 s", cell: ({ policyReads }) => amount(policyReads.usual) },
  { head: "600 s", cell: ({ policyReads }) => amount(policyReads.long) },
  { head: "list reads/s, at most", cell: ({ listReads }) => amount(listReads) },
  { head: "usage reports/s", cell: ({ reports }) => amount(reports) },
  { head: "D1 GB", cell: ({ d1Gigabytes }) => amount(d1Gigabytes) },
  { head: "first limit", cell: ({ firstLimit }) => firstLimit },
];

/** Of a key in use in every hour: dollars a month for its alarms and its usage rows, and for what they store in D1. */
const usageDollars = {
  rows:
    (DAYS_PER_MONTH *
      24 *
      (PRICES.objectCalls * HOUR.objectCalls +
        PRICES.rowsWritten * (HOUR.objectRowsWritten + HOUR.d1RowsWritten))) /
    1e6,
  storage: (PRICES.d1Storage * 24 * USAGE_RETENTION_DAYS * USAGE_BYTES) / 1e9,
};

/** As docs/performance.md has them. */
export function scalingTables(): string {
  return [
    tableOf(costColumns, SCALES),
    tableOf(limitColumns, SCALES),
    `The hourly usage of a key in use all day: $${usageDollars.rows.toFixed(4)} a month for rows and alarms, $${usageDollars.storage.toFixed(4)} for storage.`,
  ].join("\n\n");
}
