/** `--pages`: how long an operator's pages and calls take in a large store, and a client waits meanwhile. */

import { insertOrders } from "../test/support/database.ts";
import { cpuMsOf } from "../test/support/workerd-process.ts";
import { LIST } from "./cases.ts";
import { send } from "./load.ts";
import type { OnStep } from "./measure.ts";
import { type BenchService, type MeasuredWorker, SERVICE, startBench } from "./service.ts";
import { spreadOf } from "./statistics.ts";
import { tableOf } from "./table.ts";

const KEYS = 20_000;
const KEYS_OF_CUSTOMER = 3;
const DAYS = 30;
const ORDERS = 1_000;
const ROUNDS = 3;
const ADMIN_TOKEN = "only-for-the-bench-0123456789-abcdef";

const usage = (query: Record<string, string>) => `/admin/usage?${new URLSearchParams(query)}`;
const PAGES = [
  ...["/console", "/console?range=24h", "/console?range=30d"],
  ...["/console/keys", "/console/keys?sort=used&direction=desc", "/console/keys?search=customer+17"],
  ...["/console/customers", "/console/customers/cus_17", "/console/usage", "/console/usage?by=hour"],
  ...["/console/orders", "/console/plans", "/console/audit", "/console/alerts"],
  ...["key", "plan", "day"].map((by) => usage({ by, from: "29d" })),
  ...[usage({ sort: "percent" }), "/admin/customers?sort=near&from=6d", "/admin/keys"],
];

export type PageResult = {
  readonly path: string;
  /** Median of the rounds. `cpuMs` is that of workerd: the Worker and its D1. Absent without /proc. */
  readonly answerMs: number;
  readonly cpuMs: number | undefined;
  /** The longest of a client's requests while the page was made. */
  readonly clientWaitMs: number;
};

export async function measurePages(service: MeasuredWorker, onStep: OnStep): Promise<PageResult[]> {
  const bench = await startBench({ workers: [service], vars: { ADMIN_TOKEN } });
  try {
    onStep(`${KEYS} keys, ${DAYS} days of usage`);
    await fill(bench);
    const key = { Authorization: await bench.createKey({ perMinute: 30_000, perDay: 1_000_000 }) };
    const operator = { Authorization: `Bearer ${ADMIN_TOKEN}`, Cookie: await signIn(bench) };
    const results: PageResult[] = [];
    for (const path of PAGES) {
      onStep(path);
      results.push(await measurePage(bench, path, operator, key));
    }
    return results;
  } finally {
    await bench.close();
  }
}

/** Each key is in use in each hour. One day a statement, which may run for 30 s. */
async function fill({ db }: BenchService): Promise<void> {
  await insertOrders(db, ORDERS);
  const numbers = `with recursive n(i) as (select 0 union all select i + 1 from n where i < ${KEYS - 1})`;
  await db
    .prepare(
      `insert into customers (id, name, name_key, created_at) ${numbers}
       select 'cus_' || i, 'customer ' || i, 'customer ' || i, 0 from n where i <= ${KEYS} / ${KEYS_OF_CUSTOMER}`,
    )
    .run();
  await db
    .prepare(
      `insert into api_keys (id, name, customer_id, plan, created_at) ${numbers}
       select 'key_' || lower(hex(randomblob(6))), 'key ' || i, 'cus_' || (i / ${KEYS_OF_CUSTOMER}), 'pro', 0 from n`,
    )
    .run();
  await db.prepare("insert into limiters select id from api_keys").run();
  const hours = JSON.stringify(Array(24).fill(60));
  for (let day = 0; day < DAYS; day++) {
    await db
      .prepare(
        `insert into usage select unixepoch('now', 'start of day') - ${day} * 86400, id, customer_id, plan, 1000 + rowid % 9000, 0, 0, 10000, '{}', '${hours}'
         from api_keys`,
      )
      .run();
  }
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
): Promise<PageResult> {
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
  const columns = [
    { head: "page or call", cell: ({ path }: PageResult) => `\`${decodeURIComponent(path)}\`` },
    { head: "CPU ms", cell: ({ cpuMs }: PageResult) => whole(cpuMs) },
    { head: "answer ms", cell: ({ answerMs }: PageResult) => whole(answerMs) },
    { head: "a client waits, ms", cell: ({ clientWaitMs }: PageResult) => whole(clientWaitMs) },
  ];
  console.log(tableOf(columns, results));
}
