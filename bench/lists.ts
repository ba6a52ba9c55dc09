/** Measures the order list at several sizes, and drizzle's rows beside. Each row has a workerd of its own. */

import { insertOrders } from "../test/support/database.ts";
import { residentMegabytesOf } from "../test/support/workerd-process.ts";
import { inTemporaryFolder } from "./build.ts";
import { LIST, NO_SUCH_PATH } from "./cases.ts";
import { send } from "./load.ts";
import { type OnStep, takeCosts } from "./measure.ts";
import {
  type BenchOptions,
  type BenchService,
  buildDrizzleRows,
  DRIZZLE_ROWS,
  type MeasuredWorker,
  SERVICE,
  startBench,
} from "./service.ts";

export const LIST_SIZES = [0, 1_000, 10_000, 100_000, 1_000_000] as const;
export const QUICK_LIST_SIZES = [0, 1_000, 10_000] as const;

const MAX_LIST_MS = 90_000;

const LISTS = [
  { list: "service", worker: SERVICE, path: LIST },
  { list: "drizzle rows, c.json", worker: DRIZZLE_ROWS, path: "/orders" },
] as const;
type List = (typeof LISTS)[number];

/** In this order: first of the process; after one order changed; with the ETag of the list before, if any. */
const STATES = ["cold", "changed", "unchanged"] as const;
export type ListState = (typeof STATES)[number];

type Download = { readonly firstByteMs: number; readonly totalMs: number; readonly etag: string | null };

export type ListResult = {
  readonly list: string;
  readonly orders: number;
  readonly states: Readonly<States>;
  /** Megabytes of workerd, with its local D1: before the first list, and the peak. Absent without /proc. */
  readonly memory?: { readonly before: number; readonly peak: number };
};

export async function measureLists(
  service: MeasuredWorker,
  sizes: readonly number[],
  onStep: OnStep,
): Promise<ListResult[]> {
  const workers = [service, await buildDrizzleRows()];
  const results: ListResult[] = [];
  for (const orders of sizes) {
    await inTemporaryFolder(async (folder) => {
      const loading = await startBench({ workers, folder });
      try {
        await insertOrders(loading.db, orders);
      } finally {
        await loading.close();
      }
      for (const each of LISTS) {
        onStep(`${orders.toLocaleString("en")} orders: ${each.list}`);
        results.push({ list: each.list, orders, ...(await measureList({ workers, folder }, each, orders)) });
      }
    });
  }
  return results;
}

type States = Partial<Record<ListState, Download & { rowsRead?: number }>>;

/** Rows are counted in a run of its own, because counting takes time and memory. */
async function measureList(
  options: BenchOptions,
  list: List,
  orders: number,
): Promise<Omit<ListResult, "list" | "orders">> {
  const states: States = {};
  // An empty list has no order to change.
  const wanted = STATES.filter((state) => orders > 0 || state !== "changed");
  const memory = await withList(options, async (service, headers) => {
    const before = service.workerd && residentMegabytesOf(service.workerd).now;
    for await (const [state, result] of listInEach(wanted, service, list, headers)) states[state] = result;
    const peak = service.workerd && residentMegabytesOf(service.workerd).peak;
    return before === undefined || peak === undefined ? {} : { memory: { before, peak } };
  });
  await withList({ ...options, isCounting: true }, async (service, headers) => {
    for await (const [state] of listInEach(wanted, service, list, headers)) {
      const { d1RowsRead } = await takeCosts(service.url(list.worker));
      const timed = states[state];
      if (timed) timed.rowsRead = d1RowsRead;
    }
  });
  return { states, ...memory };
}

/** The runtime, the key and its limiter are ready before the first list. */
async function withList<T>(
  options: BenchOptions,
  use: (service: BenchService, headers: Record<string, string>) => Promise<T>,
): Promise<T> {
  const service = await startBench(options);
  try {
    const headers = { Authorization: await service.createKey({ perMinute: 1_000_000, perDay: 1_000_000 }) };
    for (let i = 0; i < 20; i++) await send(service.url(SERVICE), { path: NO_SUCH_PATH, headers });
    return await use(service, headers);
  } finally {
    await service.close();
  }
}

async function* listInEach(
  states: readonly ListState[],
  service: BenchService,
  { worker, path }: List,
  headers: Record<string, string>,
): AsyncGenerator<[ListState, Download]> {
  const url = service.url(worker);
  let etag: string | null = null;
  for (const state of states) {
    if (state === "changed") await changeOneOrder(service);
    await takeCosts(url);
    const condition = state === "unchanged" && etag !== null ? { "If-None-Match": etag } : {};
    const result = await download(new URL(path, url), { ...headers, ...condition });
    etag = result.etag;
    yield [state, result];
  }
}

async function changeOneOrder({ db }: BenchService): Promise<void> {
  const middle = "(select id from orders where id >= (select max(id) / 2 from orders) order by id limit 1)";
  await db.prepare(`update orders set quantity = quantity + 1 where id = ${middle}`).run();
}

/** Reads the list to its end without keeping it. Throws when it fails or ends early. */
async function download(url: URL, headers: Readonly<Record<string, string>>): Promise<Download> {
  const startMs = performance.now();
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(MAX_LIST_MS) });
  let firstByteMs: number | undefined;
  let end: number | undefined;
  for await (const chunk of response.body ?? []) {
    firstByteMs ??= performance.now() - startMs;
    end = chunk.at(-1);
  }
  const totalMs = performance.now() - startMs;
  if (response.status !== 304 && (response.status !== 200 || end !== "]".charCodeAt(0)))
    throw new Error(`${url.pathname} answered ${response.status}, or ended early`);
  return { firstByteMs: firstByteMs ?? totalMs, totalMs, etag: response.headers.get("ETag") };
}
