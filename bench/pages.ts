/**
 * `--pages`: how long an operator's pages and calls take in a large store, how many rows of D1 they read, beside
 * version 2.2, and how long a client waits meanwhile.
 */

import { insertOrders } from "../test/support/database.ts";
import { cpuMsOf } from "../test/support/workerd-process.ts";
import { inTemporaryFolder } from "./build.ts";
import { LIST } from "./cases.ts";
import { send } from "./load.ts";
import { type OnStep, takeCosts } from "./measure.ts";
import { type BenchOptions, type BenchService, type MeasuredWorker, SERVICE, startBench } from "./service.ts";
import { spreadOf } from "./statistics.ts";
import { tableOf } from "./table.ts";

const KEYS = 20_000;
const KEYS_OF_CUSTOMER = 3;
/** On the days before, a fifth of the keys is in use. */
const BUSY_DAYS = 30;
const DAYS = 400;
const DAYS_A_STATEMENT = 10;
const ORDERS = 100_000;
const ROUNDS = 3;
const ADMIN_TOKEN = "only-for-the-bench-0123456789-abcdef";

const usage = (query: Record<string, string>) => `/admin/usage?${new URLSearchParams(query)}`;
const PAGES = [
  ...[
    "/console",
    "/console/keys",
    "/console/keys?sort=used&direction=desc",
    "/console/keys?search=customer+17",
  ],
  ...[
    "/console/customers",
    "/console/customers/cus_000000000017",
    "/console/usage",
    "/console/usage?by=hour",
  ],
  ...["/console/orders", "/console/plans", "/console/audit", "/console/alerts"],
  ...["key", "day"].map((by) => usage({ by, from: "29d" })),
  ...[usage({ sort: "percent" }), "/admin/customers?sort=near&from=6d", "/admin/keys", "/admin/metrics"],
  ...[usage({ by: "key", from: "399d" }), usage({ by: "day", from: "399d" }), "/admin/customers?from=399d"],
];

/** D1 rows that version 2.2 (d6c69f76) read in such a store. It refused questions about more than a million days. */
const ROWS_IN_2_2: Readonly<Record<string, number>> = {
  "/console": 1_053_947,
  "/console/keys": 1_389,
  "/console/customers": 2_563_362,
  "/console/usage": 180_472,
  "/console/usage?by=hour": 880_111,
  "/console/orders": 100_052,
  "/admin/usage?by=key&from=29d": 1_952_671,
  "/admin/usage?by=day&from=29d": 1_240_102,
  "/admin/keys": 1_389,
  "/admin/metrics": 220_681,
};

export type PageResult = {
  readonly path: string;
  /** Median of the rounds. `cpuMs` is that of workerd: the Worker and its D1. Absent without /proc. */
  readonly answerMs: number;
  readonly cpuMs: number | undefined;
  /** The longest of a client's requests while the page was made. */
  readonly clientWaitMs: number;
  readonly rowsRead: number;
};

export async function measurePages(service: MeasuredWorker, onStep: OnStep): Promise<PageResult[]> {
  const results: PageResult[] = [];
  await inTemporaryFolder(async (folder) => {
    const options = { workers: [service], vars: { ADMIN_TOKEN }, folder };
    onStep(`${KEYS} keys, ${DAYS} days of usage`);
    const rowsRead = await withOperator({ ...options, isCounting: true }, fill, countRows);
    await withOperator(
      options,
      async () => {},
      async (bench, operator) => {
        const key = { Authorization: await bench.createKey({ perMinute: 30_000, perDay: 1_000_000 }) };
        for (const path of PAGES) {
          onStep(path);
          results.push({
            ...(await measurePage(bench, path, operator, key)),
            rowsRead: rowsRead.get(path) ?? 0,
          });
        }
      },
    );
  });
  return results;
}

async function withOperator<T>(
  options: BenchOptions,
  prepare: (bench: BenchService) => Promise<void>,
  use: (bench: BenchService, operator: Headers) => Promise<T>,
): Promise<T> {
  const bench = await startBench(options);
  try {
    await prepare(bench);
    return await use(bench, { Authorization: `Bearer ${ADMIN_TOKEN}`, Cookie: await signIn(bench) });
  } finally {
    await bench.close();
  }
}

/** In a run of its own, because counting takes time. */
async function countRows({ url }: BenchService, headers: Headers): Promise<ReadonlyMap<string, number>> {
  const at = url(SERVICE);
  const rows = new Map<string, number>();
  await takeCosts(at);
  for (const path of PAGES) {
    await send(at, { path, headers });
    rows.set(path, (await takeCosts(at)).d1RowsRead);
  }
  return rows;
}

/** A key in use is so in each hour. The sums are made at the end, as the migration makes them. */
async function fill({ db }: BenchService): Promise<void> {
  await insertOrders(db, ORDERS);
  const numbers = `with recursive n(i) as (select 0 union all select i + 1 from n where i < ${KEYS - 1})`;
  await db
    .prepare(
      `insert into customers (id, name, name_key, created_at) ${numbers}
       select printf('cus_%012d', i), 'customer ' || i, 'customer ' || i, 0 from n where i <= ${KEYS} / ${KEYS_OF_CUSTOMER}`,
    )
    .run();
  await db
    .prepare(
      `insert into api_keys (id, name, customer_id, plan, created_at) ${numbers}
       select 'key_' || lower(hex(randomblob(6))), 'key ' || i, printf('cus_%012d', i / ${KEYS_OF_CUSTOMER}), 'pro', 0 from n`,
    )
    .run();
  await db.prepare("insert into limiters select id from api_keys").run();
  const hours = JSON.stringify(Array(24).fill(60));
  await db.prepare("update key_fortnights_end set day = 0").run();
  for (let day = 0; day < DAYS; day += DAYS_A_STATEMENT) {
    await db
      .prepare(
        `insert into usage with recursive d(i) as (select ${day} union all select i + 1 from d where i < ${day + DAYS_A_STATEMENT - 1})
         select unixepoch('now', 'start of day') - d.i * 86400, id, customer_id, plan, 1000 + k.rowid % 9000, 0, 0, 10000, '{}', '${hours}'
         from d, api_keys k where d.i < ${BUSY_DAYS} or k.rowid % 5 = d.i % 5`,
      )
      .run();
  }
  await db.prepare("update key_fortnights_end set day = unixepoch('now', 'start of day')").run();
  await db
    .prepare(
      "insert into key_fortnights_anew select key_id, min(day) from usage group by key_id, day / 1209600",
    )
    .run();
}

async function signIn({ url }: BenchService): Promise<string> {
  const { origin } = url(SERVICE);
  const response = await fetch(new URL("/console/sign-in", origin), {
    method: "POST",
    body: new URLSearchParams({ token: ADMIN_TOKEN }),
    headers: { Origin: origin },
    redirect: "manual",
  });
  return response.headers.get("Set-Cookie")?.split(";")[0] ?? "";
}

type Headers = Readonly<Record<string, string>>;

async function measurePage(
  { url, workerd }: BenchService,
  path: string,
  operator: Headers,
  key: Headers,
): Promise<Omit<PageResult, "rowsRead">> {
  const at = url(SERVICE);
  const cpuMs = () => (workerd === undefined ? 0 : cpuMsOf(workerd));
  const [answers, cpu, waits]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    const [startMs, startCpuMs] = [performance.now(), cpuMs()];
    const { status } = await send(at, { path, headers: operator });
    if (status !== 200) throw new Error(`${path} answered ${status}`);
    answers.push(performance.now() - startMs);
    cpu.push(cpuMs() - startCpuMs);
  }
  let isDone = false;
  const page = send(at, { path, headers: operator }).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    const startMs = performance.now();
    await send(at, { path: LIST, headers: key });
    waits.push(performance.now() - startMs);
  }
  await page;
  return {
    path,
    answerMs: spreadOf(answers).median,
    cpuMs: workerd && spreadOf(cpu).median,
    clientWaitMs: Math.max(...waits),
  };
}

export function printPages(results: readonly PageResult[]): void {
  const whole = (ms: number | undefined) => (ms === undefined ? "" : String(Math.round(ms)));
  const rows = (count: number | undefined) => count?.toLocaleString("en") ?? "";
  const columns = [
    { head: "page or call", cell: ({ path }: PageResult) => `\`${decodeURIComponent(path)}\`` },
    { head: "CPU ms", cell: ({ cpuMs }: PageResult) => whole(cpuMs) },
    { head: "answer ms", cell: ({ answerMs }: PageResult) => whole(answerMs) },
    { head: "a client waits, ms", cell: ({ clientWaitMs }: PageResult) => whole(clientWaitMs) },
    { head: "D1 rows read", cell: ({ rowsRead }: PageResult) => rows(rowsRead) },
    { head: "in 2.2", cell: ({ path }: PageResult) => rows(ROWS_IN_2_2[path]) },
  ];
  console.log(tableOf(columns, results));
}
