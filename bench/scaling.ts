/** `--scaling`: what a month costs and which limit comes first as keys and traffic grow, from counts that tests measure (docs/performance.md). */
import { OBJECT_GB, PRICES, SAMPLED_LINES } from "./prices.ts";
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

/** The defaults of the vars. */
const POLICY_REFRESH_SECONDS = 600;
const USAGE_RETENTION_DAYS = 400;

/** Bytes in D1 of a key with customer and secret, and its indexes, measured with SQLite. An object is a page. */
const KEY_BYTES = 621;
const OBJECT_BYTES = 4_096;

/** Bytes in D1 of a key's day, index included: with one request, with 60 in each hour, with 4,166. */
const DAY_BYTES = { once: 83, eachMinute: 137, busy: 191 } as const;

/** An hour in use: an alarm, which stores, reports and sets the next one. D1 updates the rows of the day and of its plan. */
const HOUR = { objectCalls: 1, objectRowsWritten: 3, d1RowsWritten: 2, d1RowsRead: 50 } as const;
/** A report by growth between the hours' reports, and the row in which the object notes that it has arrived. */
const GROWTH = { objectRowsWritten: 1, d1RowsWritten: 2, d1RowsRead: 50 } as const;
/** The index of a day's row is written with it, then the sum of its fortnight, and all are deleted once. */
const DAY = { d1RowsWritten: 8 } as const;
const POLICY_ROWS_READ = 5;
const CPU_MS = 1;

/** What D1 does: one query at a time, 1 ms each; 10 GB; 40,000 rows an hour that the cron deletes. */
const D1 = { queriesPerSecond: 1_000, gigabytes: 10, deletedRowsPerDay: 960_000 } as const;

/** The traffic of one key, all of it for an unchanged list. */
type Shape = {
  readonly name: string;
  readonly requestsPerDay: number;
  readonly hoursInUse: number;
  /** Reports by growth beyond those of the hours, as the limiter makes them on a simulated day. */
  readonly growthReports: number;
  readonly dayBytes: number;
  readonly objectRowsPerRequest: number;
  readonly objectSecondsPerDay: number;
  /** Concurrent requests of an isolate share one. */
  readonly listReadsPerRequest: number;
  /** Times of use with a pause of ten seconds before, after which the object is evicted. */
  readonly usesPerDay: number;
};

const SHAPES: readonly Shape[] = [
  {
    name: "1 request a day",
    requestsPerDay: 1,
    hoursInUse: 1,
    growthReports: 0,
    dayBytes: DAY_BYTES.once,
    objectRowsPerRequest: 1,
    objectSecondsPerDay: 0.005,
    listReadsPerRequest: 1,
    usesPerDay: 1,
  },
  {
    name: "1 request a minute",
    requestsPerDay: 1_440,
    hoursInUse: 24,
    growthReports: 17,
    dayBytes: DAY_BYTES.eachMinute,
    objectRowsPerRequest: 1,
    objectSecondsPerDay: 1_440 * 0.005,
    listReadsPerRequest: 1,
    usesPerDay: 1_440,
  },
  {
    // A Business key at its limit of the day: 19 rows for a burst, which takes two seconds, and a second until the limiter is idle. A report by growth waits up to five seconds.
    name: "100 bursts of 1,000 a day",
    requestsPerDay: 100_000,
    hoursInUse: 24,
    growthReports: 13,
    dayBytes: DAY_BYTES.busy,
    objectRowsPerRequest: 0.019,
    objectSecondsPerDay: 100 * 3 + 13 * 5,
    listReadsPerRequest: 0.24,
    usesPerDay: 100,
  },
];

const KEYS = [1_000, 100_000, 10_000_000] as const;

export type Scale = {
  readonly keys: number;
  readonly traffic: string;
  readonly use: Use;
  readonly dollars: Readonly<
    Record<"worker" | "logs" | "sampledLogs" | "objects" | "objectRows" | "d1" | "storage", number>
  >;
};

/** What all keys use in a day. Storage is that after all days. */
type Use = Readonly<Record<Item | "policyReads" | "listReads" | "reports" | "days", number>>;

export const SCALES: readonly Scale[] = SHAPES.flatMap((shape) =>
  KEYS.map((keys) => {
    const use = useOf(keys, shape);
    return { keys, traffic: shape.name, use, dollars: dollarsOf(use) };
  }),
);

/** The object stores the policy, so an eviction costs no read. */
function policyReadsPerDay({ usesPerDay }: Shape): number {
  return Math.min(usesPerDay, SECONDS_PER_DAY / POLICY_REFRESH_SECONDS);
}

function useOf(keys: number, shape: Shape): Use {
  const requests = keys * shape.requestsPerDay;
  const hours = keys * shape.hoursInUse;
  const grown = keys * shape.growthReports;
  const policyReads = keys * policyReadsPerDay(shape);
  const listReads = requests * shape.listReadsPerRequest;
  return {
    reports: hours + grown,
    days: keys,
    policyReads,
    listReads,
    workerRequests: requests,
    workerCpuMs: requests * CPU_MS,
    logLines: requests,
    objectCalls: requests + hours * HOUR.objectCalls,
    objectGbSeconds: keys * shape.objectSecondsPerDay * OBJECT_GB,
    objectRowsWritten:
      requests * shape.objectRowsPerRequest +
      hours * HOUR.objectRowsWritten +
      grown * GROWTH.objectRowsWritten,
    d1RowsRead:
      listReads + policyReads * POLICY_ROWS_READ + hours * HOUR.d1RowsRead + grown * GROWTH.d1RowsRead,
    d1RowsWritten: hours * HOUR.d1RowsWritten + grown * GROWTH.d1RowsWritten + keys * DAY.d1RowsWritten,
    d1Storage: (keys * (KEY_BYTES + USAGE_RETENTION_DAYS * shape.dayBytes)) / 1e9,
    objectStorage: (keys * OBJECT_BYTES) / 1e9,
  };
}

/** Returns the dollars of a month, beyond what the plan includes. */
function dollarsOf(use: Use): Scale["dollars"] {
  const storage = (item: "d1Storage" | "objectStorage") =>
    PRICES[item] * Math.max(0, use[item] - INCLUDED[item]);
  const billed = (item: Item, price: number, share = 1) =>
    (price * Math.max(0, DAYS_PER_MONTH * share * use[item] - INCLUDED[item])) / 1e6;
  return {
    worker: billed("workerRequests", PRICES.workerRequests) + billed("workerCpuMs", PRICES.workerCpuMs),
    logs: billed("logLines", PRICES.logLines),
    sampledLogs: billed("logLines", PRICES.logLines, SAMPLED_LINES),
    objects: billed("objectCalls", PRICES.objectCalls) + billed("objectGbSeconds", PRICES.objectGbSeconds),
    objectRows: billed("objectRowsWritten", PRICES.rowsWritten),
    d1: billed("d1RowsRead", PRICES.rowsRead) + billed("d1RowsWritten", PRICES.rowsWritten),
    storage: storage("d1Storage") + storage("objectStorage"),
  };
}

/** Returns the limit of D1 that is passed most, and how many times. */
function firstLimit({ policyReads, listReads, reports, days, d1Storage }: Use): string {
  const used = {
    "queries of D1": perSecond(policyReads + listReads + reports) / D1.queriesPerSecond,
    "size of D1": d1Storage / D1.gigabytes,
    "rows that the cron deletes": days / D1.deletedRowsPerDay,
  };
  const [first] = Object.entries(used).toSorted(([, a], [, b]) => b - a);
  return first === undefined || first[1] <= 1 ? "none" : `${first[0]}, ${amount(first[1])} times`;
}

const perSecond = (perDay: number) => perDay / SECONDS_PER_DAY;

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

const total = ({ dollars: { sampledLogs: _, ...billed } }: Scale) =>
  Object.values(billed).reduce((sum, each) => sum + each, PLAN_DOLLARS);

const sampledTotal = (scale: Scale) => total(scale) - scale.dollars.logs + scale.dollars.sampledLogs;

const COLUMNS: Column<Scale>[] = [
  ...head,
  { head: "requests/s", cell: ({ use }) => amount(perSecond(use.workerRequests)) },
  { head: "Worker $", cell: ({ dollars }) => dollar(dollars.worker) },
  { head: "logs $", cell: ({ dollars }) => dollar(dollars.logs) },
  {
    head: "objects, their rows, storage $",
    cell: ({ dollars: { objects, objectRows, storage } }) => dollar(objects + objectRows + storage),
  },
  { head: "D1 $", cell: ({ dollars }) => dollar(dollars.d1) },
  { head: "month $", cell: (scale) => dollar(total(scale)) },
  { head: "logs at 1/100: month $", cell: (scale) => dollar(sampledTotal(scale)) },
  { head: "D1 GB", cell: ({ use }) => amount(use.d1Storage) },
  { head: "first limit", cell: ({ use }) => firstLimit(use) },
];

/** What the usage of a key costs that is in use in every hour: rows and alarms, and storage, in dollars a month. */
const usageDollars = (() => {
  const rowsOfHour = HOUR.objectRowsWritten + HOUR.d1RowsWritten;
  const ofHour = PRICES.objectCalls * HOUR.objectCalls + PRICES.rowsWritten * rowsOfHour;
  const ofGrowth = PRICES.rowsWritten * (GROWTH.objectRowsWritten + GROWTH.d1RowsWritten);
  const ofDay = 24 * ofHour + 17 * ofGrowth + PRICES.rowsWritten * DAY.d1RowsWritten;
  return {
    rows: (DAYS_PER_MONTH * ofDay) / 1e6,
    storage: (PRICES.d1Storage * USAGE_RETENTION_DAYS * DAY_BYTES.eachMinute) / 1e9,
  };
})();

/** As docs/performance.md has them. */
export function scalingTables(): string {
  return [
    tableOf(COLUMNS, SCALES),
    `The usage of a key in use all day: $${usageDollars.rows.toFixed(5)} a month for rows and alarms, $${usageDollars.storage.toFixed(5)} for storage.`,
  ].join("\n\n");
}
