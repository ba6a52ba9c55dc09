/** What docs/promises.md says of lists: CPU time beside the hot path, what 100 lists share after a cancel, what stalled readers hold. */
import { get, type IncomingMessage } from "node:http";
import { openIsolateMemory, WORKER_ISOLATE } from "../support/isolate-memory.ts";
import { startWorkerd, UNLIMITED } from "../support/workerd.ts";
import { HOT_PATH, LIST, prepareOurs } from "./cases.ts";
import { insertOrders } from "./database.ts";
import { send } from "./load.ts";
import { measureRounds, type OnStep, type Plan, takeCosts } from "./measure.ts";
import { startBench } from "./service.ts";
import { ratiosOf } from "./statistics.ts";

const ORDERS = 100_000;
const LISTS = 100;
const STALLED_READERS = 60;
const STALLED_ORDERS = 120_000;
/** Each key may have 16 bodies. */
const KEYS = 7;
const UNREACHED = { perMinute: 1_000_000, perDay: 100_000_000 };

export type ListFigures = {
  /** Of the hot path, over 20 connections. Empty on a system without /proc. */
  readonly cpuOfHotPath: Readonly<Record<string, number>>;
  /** Of 100 lists at once of 100,000 orders, after one cancel. */
  readonly afterCancel: { readonly statements: number; readonly rowsRead: number; readonly sent: number };
  /** Megabytes of the isolate, without garbage, that 60 stalled readers of 120,000 orders add. */
  readonly stalledMegabytes: number | undefined;
};

export const FIGURE_STEPS = 3;

export async function measureListFigures(script: string, plan: Plan, onStep: OnStep): Promise<ListFigures> {
  onStep("lists: CPU time");
  const cpuOfHotPath = await measureCpu(script, plan);
  onStep("lists: after a cancel");
  const afterCancel = await measureAfterCancel(script);
  onStep("lists: stalled readers");
  return { cpuOfHotPath, afterCancel, stalledMegabytes: await measureStalled() };
}

async function measureCpu(script: string, plan: Plan): Promise<Record<string, number>> {
  const service = await startBench(script);
  try {
    const cases = (await prepareOurs(service, UNREACHED)).filter(({ id }) => id !== "banned");
    const speeds = await measureRounds(service, cases, plan, () => {});
    const hotPath = speeds.get(HOT_PATH)?.cpuMs ?? [];
    const lists = [...speeds.values()].filter(({ cpuMs }) => cpuMs.length > 0 && cpuMs !== hotPath);
    return Object.fromEntries(lists.map(({ name, cpuMs }) => [name, ratiosOf(cpuMs, hotPath).median]));
  } finally {
    await service.close();
  }
}

async function measureAfterCancel(script: string): Promise<ListFigures["afterCancel"]> {
  const service = await startBench(script, { isCounting: true });
  try {
    await insertOrders(service.db, ORDERS);
    const keys = await Promise.all(Array.from({ length: KEYS }, () => service.createKey(UNREACHED)));
    const headersOf = (i: number) => ({ Authorization: keys[i % KEYS] ?? "" });
    const list = (i: number) => send(service.url, { path: LIST, headers: headersOf(i) });
    // Each key's limiter has its policy, which is a query, too.
    for (const i of keys.keys())
      await send(service.url, { path: LIST, headers: headersOf(i) }, i === 0 ? "GET" : "HEAD");
    await send(service.url, { path: `${LIST}/${ORDERS / 2}`, headers: headersOf(0) }, "DELETE");
    await takeCosts(service.url);
    const answers = await Promise.all(Array.from({ length: LISTS }, (_, i) => list(i)));
    const { d1Queries, d1RowsRead } = await takeCosts(service.url);
    const sent = answers.filter(({ status }) => status === 200).length;
    return { statements: d1Queries, rowsRead: d1RowsRead, sent };
  } finally {
    await service.close();
  }
}

async function measureStalled(): Promise<number | undefined> {
  const service = await startWorkerd({ hasInspector: true });
  try {
    await insertOrders(service.db, STALLED_ORDERS);
    const keys = await Promise.all(Array.from({ length: KEYS }, () => service.createKey(UNLIMITED)));
    const headersOf = (i: number) => ({ Authorization: `Bearer ${keys[i % KEYS]?.key}` });
    for (const i of keys.keys())
      await send(service.url, { path: LIST, headers: headersOf(i) }, i === 0 ? "GET" : "HEAD");
    const isolate = await openIsolateMemory(await service.inspectorUrl(), WORKER_ISOLATE);
    const held = async () => {
      // An isolate answers the inspector while it has a request.
      const [megabytes] = await Promise.all([
        isolate.afterCollection(),
        send(service.url, { path: "/v1/none", headers: headersOf(0) }),
      ]);
      return megabytes;
    };
    const before = await held();
    const readers = await Promise.all(
      Array.from({ length: STALLED_READERS }, (_, i) =>
        openStalled(new URL(LIST, service.url), headersOf(i)),
      ),
    );
    const after = await held();
    for (const reader of readers) reader.destroy();
    isolate.close();
    return before === undefined || after === undefined ? undefined : after - before;
  } finally {
    await service.close();
  }
}

/** Reads the headers and nothing of the body. */
function openStalled(url: URL, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url.href, { headers, agent: false }, (response) => {
      response.on("error", () => {});
      if (response.statusCode === 200) resolve(response);
      else reject(new Error(`a stalled reader was answered ${response.statusCode}`));
    }).on("error", reject);
  });
}
